import { isObject, parseJson, type WireObject } from '#outgoing/wire.ts'
import { completionOf } from '../providers/completion-of.ts'

/** Maximum size of frames in bytes, and number of chunks, that are kept of a streamed answer for the request log. */
const maxBytes = 128 * 1024
const maxChunks = 2048

/** The streamed answer for the request log: collected as it was sent, and parsed only when the log reads it. */
export class AnswerLog {
  /** Frames that were sent before the first chunk. */
  readonly #frames: Buffer[] = []
  readonly #chunks: WireObject[] = []
  #bytes = 0

  frames(bytes: Buffer): void {
    if (this.#bytes > maxBytes) return
    this.#bytes += bytes.length
    this.#frames.push(bytes)
  }

  chunk(chunk: WireObject): void {
    if (this.#chunks.length < maxChunks) this.#chunks.push(chunk)
  }

  /** Returns the answer as one `chat.completion` in JSON; only the beginning of a very long one. */
  toString(): string {
    const chunks = [...chunksIn(Buffer.concat(this.#frames).toString('utf8')), ...this.#chunks]
    return chunks.length === 0 ? '' : JSON.stringify(completionOf(chunks))
  }
}

/** Matches a frame that only adds text. Text cannot match by accident, because its quotes are escaped. */
const onlyText = /"index":0,"delta":\{"content":"((?:[^"\\]|\\.)*)"\}/
const finish = '"finish_reason":"'

/**
 * Parses the chunks of these frames. Consecutive frames that only add text are merged first, so that their text is
 * parsed once.
 */
const chunksIn = (frames: string): readonly WireObject[] => {
  const chunks: WireObject[] = []
  let text = ''
  const putText = (): void => {
    const content = parseJson(`"${text}"`)
    text = ''
    if (content !== '') chunks.push({ choices: [{ index: 0, delta: { content } }] })
  }
  for (const line of frames.split(/\r?\n/)) {
    if (!line.startsWith('data:')) continue
    const words = chunks.length === 0 || line.includes(finish) ? undefined : onlyText.exec(line)?.[1]
    if (words !== undefined) {
      text += words
      continue
    }
    putText()
    const chunk = parseJson(line.slice(5))
    if (isObject(chunk)) chunks.push(chunk)
  }
  putText()
  return chunks
}
