import { isObject, type WireObject } from '#outgoing/wire.ts'
import { usageOf } from '../call/accounting/openai-usage.ts'
import { withCost } from '../call/accounting/shown-cost.ts'
import { streamBroken } from '../call/failure.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { isUsageOnly, OpenAiChunks } from '../providers/openai/openai-chunks.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'

/** Maximum size in bytes of an incomplete frame; a sender that exceeds it is broken or hostile. */
const maxFrameBytes = 16 * 1024 * 1024

/** Finds the frames that have to be parsed. The text of an answer cannot match, because its quotes are escaped. */
const notable = /"usage":\s*\{|"error":|"finish_reason":\s*"|\[DONE\]/g

const closingBrace = 0x7d
const lineFeed = 0x0a

/** Options for reading a stream. */
export interface FrameReaderOptions {
  /**
   * Whether the usage was requested by the gateway only: then the chunk that has nothing but usage is not passed on.
   */
  readonly hidesUsage: boolean
  /** Number of choices requested: the first chunk of each has to be parsed. */
  readonly choices: number
  /** Returns the cost of the reported usage in USD as exact decimal text; null when the price is unknown. */
  readonly costOf: (usage: TokenUsage) => string | null
}

/**
 * Passes on a stream in OpenAI's format as received, in complete frames, and reads the metadata of the answer from it.
 * Only frames that may have metadata are parsed; of the others, only the boundaries are found.
 */
export class FrameReader implements AnswerReader {
  readonly #listener: Pick<AnswerListener, 'frames'>
  readonly #hidesUsage: boolean
  readonly #choices: number
  readonly #costOf: FrameReaderOptions['costOf']
  readonly #chunks: OpenAiChunks
  #rest: Buffer[] = []
  #restBytes = 0
  #begun = false
  #done = false
  #frames = 0

  /** @param chunks collects the metadata of the answer; shared with a reader that takes over the stream. */
  constructor(
    listener: Pick<AnswerListener, 'frames'>,
    { hidesUsage, choices, costOf }: FrameReaderOptions,
    chunks: OpenAiChunks = new OpenAiChunks(),
  ) {
    this.#listener = listener
    this.#chunks = chunks
    this.#hidesUsage = hidesUsage
    this.#choices = choices
    this.#costOf = costOf
  }

  get done(): boolean {
    return this.#done
  }

  get tokensSoFar(): number {
    return this.#frames
  }

  /** @param read the part as latin1, if the caller has read it. */
  push(part: Buffer, read?: string): boolean {
    if (this.#done) return true
    const bytes = this.#joined(part)
    if (bytes === null) return true
    // latin1 has one character per byte, so indexes in the text are indexes in the bytes
    const text = bytes === part && read !== undefined ? read : bytes.toString('latin1')
    const end = endOfFrames(text)
    this.#keepBack(bytes.subarray(end))
    if (end === 0) return true
    return this.#whole(end === bytes.length ? bytes : bytes.subarray(0, end), text)
  }

  finish(): StreamEnd {
    if (this.#rest.length > 0) {
      const last = Buffer.concat([...this.#rest, Buffer.from('\n\n')])
      this.#rest = []
      this.#whole(last, last.toString('latin1'))
    }
    return this.#chunks.end()
  }

  /** Stops reading in the middle of an answer. @returns the bytes of the incomplete frame. */
  leave(): Buffer {
    const rest = Buffer.concat(this.#rest)
    this.#rest = []
    return rest
  }

  /**
   * Returns the part with the bytes that were held back before it; null while it has no line end, so that a very long
   * line is joined only once.
   */
  #joined(part: Buffer): Buffer | null {
    if (this.#rest.length === 0) return part
    if (!part.includes(lineFeed)) {
      this.#keepBack(part)
      return null
    }
    const whole = Buffer.concat([...this.#rest, part])
    this.#rest = []
    this.#restBytes = 0
    return whole
  }

  #keepBack(part: Buffer): void {
    if (part.length === 0) return
    this.#rest.push(part)
    this.#restBytes += part.length
    if (this.#restBytes > maxFrameBytes) throw streamBroken()
  }

  /**
   * Passes on complete frames, including those before an invalid one.
   * @param text of the bytes, possibly with more after them.
   */
  #whole(bytes: Buffer, text: string): boolean {
    const kept = new KeptBytes(bytes)
    try {
      this.#sort(bytes, text, kept)
    } catch (error) {
      this.#give(kept)
      throw error
    }
    return this.#give(kept)
  }

  #give(kept: KeptBytes): boolean {
    const shown = kept.bytes()
    return shown === null ? true : this.#listener.frames(shown)
  }

  #sort(bytes: Buffer, text: string, kept: KeptBytes): void {
    const crlf = text.includes('\r')
    let from = 0
    let eventAt = this.#begun ? eventFrom(text, 0) : 0
    while (from < bytes.length && !this.#done) {
      const end = crlf ? nextFrame(text, from, bytes.length) : plainEnd(text, from, bytes.length)
      if (eventAt >= end && endsObject(bytes, end) && text.startsWith(dataLine, from)) {
        this.#frames++
        kept.keep(from, end)
      } else {
        this.#inspect(kept, from, end)
        eventAt = this.#begun ? eventFrom(text, end) : end
      }
      from = end
    }
  }

  #inspect(kept: KeptBytes, from: number, end: number): void {
    const frame = kept.part(from, end)
    const shown = this.#frame(frame)
    if (shown === frame) kept.keep(from, end)
    else if (shown !== null) kept.put(end, shown)
  }

  /** @returns the frame for the caller; null when it is not passed on. */
  #frame(frame: Buffer): Buffer | null {
    const data = dataOf(frame)
    // comments of the provider are not passed on
    if (data === null) return null
    if (data === '[DONE]') {
      this.#chunks.end()
      this.#done = true
      return null
    }
    const { chunk, changed } = this.#chunks.read(data)
    this.#begun = this.#chunks.begun >= this.#choices
    this.#frames++
    if (this.#hidesUsage && isUsageOnly(chunk)) return null
    const shown = this.#hidesUsage ? chunk : this.#withCost(chunk)
    return changed || shown !== chunk ? Buffer.from(`data: ${JSON.stringify(shown)}\n\n`) : frame
  }

  #withCost(chunk: WireObject): WireObject {
    const usage = isObject(chunk.usage) ? usageOf(chunk.usage) : null
    return usage === null ? chunk : withCost(chunk, this.#costOf(usage))
  }
}

/** Collects the frames of one part that are passed on, with as few copies as possible. */
class KeptBytes {
  readonly #source: Buffer
  readonly #parts: Buffer[] = []
  #from = 0
  #to = 0

  constructor(source: Buffer) {
    this.#source = source
  }

  /** Returns a section of the bytes. */
  part(from: number, to: number): Buffer {
    return this.#source.subarray(from, to)
  }

  /** Keeps a section of the bytes unchanged. */
  keep(from: number, to: number): void {
    if (from !== this.#to) this.#take(from)
    this.#to = to
  }

  /** Replaces the section that ends at `to` by other bytes. */
  put(to: number, bytes: Buffer): void {
    this.#take(to)
    this.#parts.push(bytes)
  }

  bytes(): Buffer | null {
    if (this.#parts.length === 0 && this.#from === 0 && this.#to === this.#source.length) return this.#source
    this.#take(this.#to)
    const [first] = this.#parts
    if (first === undefined) return null
    return this.#parts.length === 1 ? first : Buffer.concat(this.#parts)
  }

  #take(next: number): void {
    if (this.#to > this.#from) this.#parts.push(this.#source.subarray(this.#from, this.#to))
    this.#from = next
    this.#to = next
  }
}

/** Index of the next frame content that has to be parsed; the length of the text when there is none. */
const eventFrom = (text: string, from: number): number => {
  notable.lastIndex = from
  return notable.exec(text)?.index ?? text.length
}

/** Prefix of a frame whose data is one line with a JSON object. */
const dataLine = 'data: {'

/** Whether the frame that ends here ends with a closing brace. */
const endsObject = (bytes: Buffer, end: number): boolean =>
  bytes[end - 1] === lineFeed && bytes[end - 3] === closingBrace

/** Index after the last blank line; 0 when there is none. */
const endOfFrames = (text: string): number => {
  if (text.endsWith('\n\n')) return text.length
  const plain = text.lastIndexOf('\n\n')
  const carried = text.lastIndexOf('\n\r\n')
  return Math.max(plain < 0 ? 0 : plain + 2, carried < 0 ? 0 : carried + 3)
}

/** Same as `nextFrame`, for text without carriage returns. */
const plainEnd = (text: string, from: number, length: number): number => {
  const end = text.indexOf('\n\n', from)
  return end < 0 || end + 2 > length ? length : end + 2
}

/** Index after the first blank line from `from`; `length` when there is none. */
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
