import { streamBroken } from '../failure.ts'
import type { AnswerReader, AnswerTaker, StreamEnd } from './answer-reader.ts'
import { isUsageOnly, OpenAiChunks } from './openai-chunks.ts'

/** Bytes of a frame that has not ended; a sender that goes on is broken or hostile. */
const maxFrameBytes = 16 * 1024 * 1024

/** What a chunk is looked into for; the quotes cannot stand so inside the text of an answer. */
const telling = /"usage":\s*\{|"error":|"finish_reason":\s*"|\[DONE\]/

const empty = Buffer.alloc(0)
const closingBrace = 0x7d

/**
 * Hands on a stream of OpenAI's format as the bytes that came, whole frames at a time, and reads in passing what it says
 * of itself. Only frames that may say something are parsed; of the others no more is seen than that they are whole.
 */
export class FrameReader implements AnswerReader {
  readonly #taker: Pick<AnswerTaker, 'frames'>
  readonly #hidesUsage: boolean
  readonly #chunks = new OpenAiChunks()
  #rest: Buffer = empty
  #begun = false
  #done = false
  #frames = 0

  /** @param hidesUsage the chunk that has nothing but usage is ours: the caller did not ask for it. */
  constructor(taker: Pick<AnswerTaker, 'frames'>, hidesUsage: boolean) {
    this.#taker = taker
    this.#hidesUsage = hidesUsage
  }

  get done(): boolean {
    return this.#done
  }

  get tokensSoFar(): number {
    return this.#frames
  }

  push(part: Buffer): boolean {
    if (this.#done) return true
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    // one character a byte: places in the text are places in the bytes
    const text = bytes.toString('latin1')
    const end = endOfFrames(text)
    this.#rest = end === bytes.length ? empty : bytes.subarray(end)
    if (this.#rest.length > maxFrameBytes) throw streamBroken()
    if (end === 0) return true
    return this.#whole(end === bytes.length ? bytes : bytes.subarray(0, end), text)
  }

  finish(): StreamEnd {
    if (this.#rest.length > 0) {
      const last = Buffer.concat([this.#rest, Buffer.from('\n\n')])
      this.#rest = empty
      this.#whole(last, last.toString('latin1'))
    }
    return this.#chunks.end()
  }

  #whole(bytes: Buffer, text: string): boolean {
    if (this.#begun && !telling.test(text) && this.#arePlain(bytes, text)) return this.#taker.frames(bytes)
    const kept = this.#read(bytes, text)
    return kept === null ? true : this.#taker.frames(kept)
  }

  /** Whether these are nothing but frames of one line of JSON each. */
  #arePlain(bytes: Buffer, text: string): boolean {
    let from = 0
    let frames = 0
    while (from < bytes.length) {
      const end = text.indexOf('\n\n', from)
      if (end < 0 || bytes[end - 1] !== closingBrace || !text.startsWith('data: {', from)) return false
      from = end + 2
      frames++
    }
    this.#frames += frames
    return true
  }

  /** Reads frame by frame. @returns what is for the caller; null when nothing is. */
  #read(bytes: Buffer, text: string): Buffer | null {
    const kept: Buffer[] = []
    let from = 0
    while (from < bytes.length && !this.#done) {
      const end = nextFrame(text, from, bytes.length)
      const frame = this.#frame(bytes.subarray(from, end))
      if (frame !== null) kept.push(frame)
      from = end
    }
    return kept.length === 0 ? null : kept.length === 1 ? (kept[0] ?? null) : Buffer.concat(kept)
  }

  #frame(frame: Buffer): Buffer | null {
    const data = dataOf(frame)
    // comments of the provider say nothing to our caller
    if (data === null) return null
    if (data === '[DONE]') {
      this.#chunks.end()
      this.#done = true
      return null
    }
    this.#begun = true
    this.#frames++
    const { chunk, changed } = this.#chunks.read(data)
    if (this.#hidesUsage && isUsageOnly(chunk)) return null
    return changed ? Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`) : frame
  }
}

/** The place after the last blank line; 0 when there is none. */
const endOfFrames = (text: string): number => {
  if (text.endsWith('\n\n')) return text.length
  const plain = text.lastIndexOf('\n\n')
  const carried = text.lastIndexOf('\n\r\n')
  return Math.max(plain < 0 ? 0 : plain + 2, carried < 0 ? 0 : carried + 3)
}

/** The place after the first blank line from here. */
const nextFrame = (text: string, from: number, length: number): number => {
  const plain = text.indexOf('\n\n', from)
  const carried = text.indexOf('\n\r\n', from)
  const ends = [plain < 0 ? length : plain + 2, carried < 0 ? length : carried + 3, length]
  return Math.min(...ends)
}

const byteOrderMark = 0xfeff

/** The `data` lines of a frame, joined; null for a frame without one. */
const dataOf = (frame: Buffer): string | null => {
  const text = frame.toString('utf8')
  let data: string | null = null
  for (const line of text.slice(text.charCodeAt(0) === byteOrderMark ? 1 : 0).split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue
    const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
    data = data === null ? value : `${data}\n${value}`
  }
  return data
}
