import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { EventReader } from '../event-decoder.ts'
import { OpenAiChunks } from '../openai/openai-chunks.ts'

/** Field of the last chunk of a stream of InvokeModelWithResponseStream. */
export const metricsField = 'amazon-bedrock-invocationMetrics'

/** Reads chunks in OpenAI's format. Bedrock counts their tokens in its own field, where the model's server does not. */
export class OpenAiEvents implements EventReader {
  readonly #chunks = new OpenAiChunks()
  #isCounted = false
  /** The last event with choices: the one with the counts may have nothing else. */
  #last: WireObject = {}
  done = false

  read({ [metricsField]: metrics, ...event }: WireObject): readonly WireObject[] {
    this.#isCounted ||= isObject(event.usage)
    const { chunk } = this.#chunks.note(event)
    const isChunk = Array.isArray(event.choices)
    if (isChunk) this.#last = event
    const chunks = isChunk ? [chunk] : []
    if (!isObject(metrics)) return chunks
    this.done = true
    const { inputTokenCount: prompt_tokens, outputTokenCount: completion_tokens } = metrics
    if (this.#isCounted || typeof prompt_tokens !== 'number' || typeof completion_tokens !== 'number') return chunks
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    return [...chunks, this.#chunks.note({ ...this.#last, choices: [], usage }).chunk]
  }

  finish(): ReturnType<EventReader['finish']> {
    return { chunks: [], end: this.#chunks.end() }
  }
}
