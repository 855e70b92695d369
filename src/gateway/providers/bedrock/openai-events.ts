import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { EventReader } from '../event-decoder.ts'
import { OpenAiChunks } from '../openai/openai-chunks.ts'

/** Field of the last chunk of a stream of InvokeModelWithResponseStream. */
const metricsField = 'amazon-bedrock-invocationMetrics'

/** Reads chunks in OpenAI's format. Bedrock counts their tokens in its own field, where the model's server does not. */
export class OpenAiEvents implements EventReader {
  readonly #chunks = new OpenAiChunks()
  #isCounted = false
  done = false

  read({ [metricsField]: metrics, ...event }: WireObject): readonly WireObject[] {
    this.#isCounted ||= isObject(event.usage)
    const chunk = this.#chunks.note(event).chunk
    if (!isObject(metrics)) return [chunk]
    this.done = true
    if (this.#isCounted) return [chunk]
    const { inputTokenCount: prompt_tokens, outputTokenCount: completion_tokens } = metrics
    const total_tokens = Number(prompt_tokens) + Number(completion_tokens)
    const usage = { prompt_tokens, completion_tokens, total_tokens }
    return [chunk, this.#chunks.note({ ...event, choices: [], usage }).chunk]
  }

  finish(): ReturnType<EventReader['finish']> {
    return { chunks: [], end: this.#chunks.end() }
  }
}
