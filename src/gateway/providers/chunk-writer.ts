import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** Sources of the response fields that a provider leaves out. */
export interface AnswerHeads {
  /** ms since the epoch, for `created`. */
  readonly now: () => number
  /** Ids for providers that do not give their responses one. */
  readonly newId: () => string
}

/** The system clock, and random ids. */
export const answerHeads: AnswerHeads = {
  now: Date.now,
  newId: () => `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`,
}

/**
 * Builds the `chat.completion.chunk` documents of one response. `id` and `model` can be replaced when the provider's
 * first event names them.
 */
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

  /** @param more further fields of the choice. */
  finish(reason: string, index = 0, more: WireObject = {}): WireObject {
    return this.#chunk([{ index, delta: {}, logprobs: null, finish_reason: reason, ...more }])
  }

  usage(usage: TokenUsage): WireObject {
    return { ...this.#chunk([]), usage: usageDocument(usage) }
  }

  #chunk(choices: readonly WireObject[]): WireObject {
    return { id: this.id, object: 'chat.completion.chunk', created: this.#created, model: this.model, choices }
  }
}

/** Usage as OpenAI counts it: cached tokens are included in the prompt's, reasoning tokens in the completion's. */
export const usageDocument = (usage: TokenUsage): WireObject => ({
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
