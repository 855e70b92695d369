import { streamBroken, streamedFailure } from './failure.ts'
import type { ModelAnswer, ModelRequest, ModelToolCall, ModelUsage } from './provider-port.ts'
import { SseDecoder } from './sse-decoder.ts'
import { estimateUsage } from './usage.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from './wire.ts'

interface CallParts {
  id: string
  name: string
  arguments: string
}

/**
 * Puts one answer together from the chunks of a streamed chat completion.
 *
 * The first delta handed on carries all text that came in the same network chunk, so that a short answer is one
 * delta; later ones are handed on chunk by chunk.
 */
export class OpenAiAnswer {
  readonly #request: ModelRequest
  readonly #onDelta: (text: string) => void
  readonly #decoder = new SseDecoder((data) => this.#event(data))
  readonly #calls = new Map<number, CallParts>()
  #text = ''
  #firstText = ''
  #firstGiven = false
  #model = ''
  #finish: string | undefined
  #usage: ModelUsage | undefined
  #done = false

  constructor(request: ModelRequest, onDelta: (text: string) => void) {
    this.#request = request
    this.#onDelta = onDelta
  }

  /** Whether `[DONE]` came: what follows is of no interest. */
  get done(): boolean {
    return this.#done
  }

  /** @throws {AttemptFailed} when a chunk is malformed or the provider reports an error. */
  push(chunk: Uint8Array): void {
    this.#decoder.push(chunk)
    this.#giveFirst()
  }

  /** @throws {AttemptFailed} when the provider never said why it stopped: the answer is then not whole. */
  finish(): ModelAnswer {
    if (this.#finish === undefined) throw streamBroken()
    const toolCalls = this.#toolCalls()
    return {
      model: this.#model === '' ? this.#request.model : this.#model,
      text: this.#text,
      toolCalls,
      usage: this.#usage ?? estimateUsage(this.#request, this.#text, toolCalls),
      finishReason: finishReasonOf(this.#finish, toolCalls.length > 0),
    }
  }

  #event(data: string): void {
    if (this.#done) return
    if (data === '[DONE]') {
      this.#done = true
      return
    }
    const chunk = parseChunk(data)
    if (chunk.error !== undefined && chunk.error !== null) {
      this.#giveFirst()
      throw streamedFailure(chunk.error)
    }
    if (this.#model === '') this.#model = textOf(chunk.model)
    if (isObject(chunk.usage)) this.#usage = usageOf(chunk.usage)
    const choices = chunk.choices
    if (Array.isArray(choices) && isObject(choices[0])) this.#choice(choices[0])
  }

  #choice(choice: WireObject): void {
    const delta = choice.delta
    if (isObject(delta)) {
      const content = delta.content
      if (typeof content === 'string' && content !== '') this.#give(content)
      if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#callDelta(call)
    }
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason
  }

  #give(text: string): void {
    this.#text += text
    if (this.#firstGiven) this.#onDelta(text)
    else this.#firstText += text
  }

  #giveFirst(): void {
    if (this.#firstGiven || this.#firstText === '') return
    this.#firstGiven = true
    this.#onDelta(this.#firstText)
  }

  /** Some servers leave `index` out and send each call whole: those go by their place. */
  #callDelta(delta: unknown): void {
    if (!isObject(delta)) throw streamBroken()
    const index = typeof delta.index === 'number' ? delta.index : this.#calls.size
    const parts = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
    const fields = objectOf(delta.function)
    if (parts.id === '') parts.id = textOf(delta.id)
    parts.name += textOf(fields.name)
    parts.arguments += textOf(fields.arguments)
    this.#calls.set(index, parts)
  }

  #toolCalls(): ModelToolCall[] {
    if (this.#calls.size === 0) return []
    const inOrder = [...this.#calls.entries()].sort(([a], [b]) => a - b)
    return inOrder.map(([index, parts]) => {
      if (parts.name === '') throw streamBroken()
      return { callId: parts.id === '' ? `call_${index}` : parts.id, name: parts.name, arguments: parts.arguments }
    })
  }
}

function parseChunk(data: string): WireObject {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    throw streamBroken()
  }
  if (!isObject(chunk)) throw streamBroken()
  return chunk
}

/** Usage as OpenAI counts it. */
export function usageOf(usage: WireObject): ModelUsage {
  const details = objectOf(usage.prompt_tokens_details)
  return {
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
    cachedTokens: countOf(details.cached_tokens),
    ...cacheWrites(details),
    reasoningTokens: countOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
  }
}

/** What was written to the cache, in the details of the input as OpenAI's two forms have them. */
export function cacheWrites(details: WireObject): Pick<ModelUsage, 'cacheWriteTokens' | 'cacheWriteLongTokens'> {
  const cacheWriteTokens = countOf(details.cache_write_tokens)
  const cacheWriteLongTokens = countOf(objectOf(details.cache_write_tokens_details).ttl_12h_tokens)
  return {
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
  }
}

/** Unknown reasons (compatible servers invent some) are a plain stop; calls make it `tool_calls` whatever was said. */
function finishReasonOf(reason: string, hasCalls: boolean): ModelAnswer['finishReason'] {
  if (reason === 'length' || reason === 'content_filter') return reason
  return hasCalls ? 'tool_calls' : 'stop'
}

/** The ids in a model list answer. */
export const modelIdsOf = (list: unknown): string[] =>
  arrayOf(objectOf(list).data)
    .map((row) => textOf(objectOf(row).id))
    .filter((id) => id !== '')
