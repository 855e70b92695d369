import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** Where answers get what their providers leave out. */
export interface AnswerHeads {
  /** ms since the epoch, for `created`. */
  readonly now: () => number
  /** For providers that name their answers by nothing. */
  readonly newId: () => string
}

/** By the clock, and by chance. */
export const answerHeads: AnswerHeads = {
  now: Date.now,
  newId: () => `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`,
}

/** Makes the `chat.completion.chunk` documents of one answer. `id` and `model` may become known with its first bytes. */
export class ChunkWriter {
  id: string
  model: string
  readonly #created: number

  constructor(id: string, model: string, created: number) {
    this.id = id
    this.model = model
    this.#created = created
  }

  delta(delta: WireObject, index = 0): WireObject {
    return this.#chunk([{ index, delta, logprobs: null, finish_reason: null }])
  }

  /** @param stopText the stop sequence that ended the answer, where it is known; said as vLLM says it. */
  finish(reason: string, index = 0, stopText = ''): WireObject {
    const stop = stopText === '' ? {} : { stop_reason: stopText }
    return this.#chunk([{ index, delta: {}, logprobs: null, finish_reason: reason, ...stop }])
  }

  usage(usage: TokenUsage): WireObject {
    return { ...this.#chunk([]), usage: usageDocument(usage) }
  }

  #chunk(choices: readonly WireObject[]): WireObject {
    return { id: this.id, object: 'chat.completion.chunk', created: this.#created, model: this.model, choices }
  }
}

/** Usage as OpenAI counts it: cached tokens are part of the prompt's, reasoning tokens of the completion's. */
const usageDocument = (usage: TokenUsage): WireObject => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cachedTokens,
    ...(usage.cacheWriteTokens === undefined ? {} : { cache_write_tokens: usage.cacheWriteTokens }),
    ...(usage.audioInputTokens === undefined ? {} : { audio_tokens: usage.audioInputTokens }),
  },
  completion_tokens_details: {
    reasoning_tokens: usage.reasoningTokens,
    ...(usage.audioOutputTokens === undefined ? {} : { audio_tokens: usage.audioOutputTokens }),
  },
})
