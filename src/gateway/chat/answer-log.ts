import { isObject, parseJson, type WireObject } from '#outgoing/wire.ts'
import { completionOf } from '../providers/completion-of.ts'

/** Bytes of frames, and numbers of chunks, that are kept of a streamed answer for the request log. */
const maxBytes = 128 * 1024
const maxChunks = 2048

/** What was streamed to the caller, for the request log: kept as it is, and read only when the log needs it. */
export class AnswerLog {
  /** They come before chunks. */
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

  /** The answer as one `chat.completion`; the beginning of a very long one. */
  toString(): string {
    const chunks = [...chunksIn(Buffer.concat(this.#frames).toString('utf8')), ...this.#chunks]
    return chunks.length === 0 ? '' : JSON.stringify(completionOf(chunks))
  }
}

/** A frame that brings nothing but text; the quotes cannot stand so inside of the text itself. */
const onlyText = /"index":0,"delta":\{"content":"((?:[^"\\]|\\.)*)"\}/
const finish = '"finish_reason":"'

/** The chunks of these frames. Of neighbours that bring nothing but text one is made: a long answer is parsed but once. */
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
