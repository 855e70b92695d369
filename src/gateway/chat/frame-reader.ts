import { isObject, type WireObject } from '#outgoing/wire.ts'
import { usageOf } from '../call/accounting/openai-usage.ts'
import { withCost } from '../call/accounting/shown-cost.ts'
import { streamBroken } from '../call/failure.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'
import { isUsageOnly, OpenAiChunks } from './openai-chunks.ts'

/** Bytes of a frame that has not ended; a sender that goes on is broken or hostile. */
const maxFrameBytes = 16 * 1024 * 1024

/** What a chunk is looked into for; the quotes cannot stand so inside the text of an answer. */
const notable = /"usage":\s*\{|"error":|"finish_reason":\s*"|\[DONE\]/g

const closingBrace = 0x7d
const lineFeed = 0x0a

/** How a stream is read. */
export interface FrameReaderOptions {
  /** The chunk that has nothing but usage is ours: the caller did not request it. */
  readonly hidesUsage: boolean
  /** How many answers were requested: the first chunk of each is looked at. */
  readonly choices: number
  /** USD of what the provider counted, as exact decimal text; null when the price is unknown. */
  readonly costOf: (usage: TokenUsage) => string | null
}

/**
 * Hands on a stream of OpenAI's format as the bytes that came, whole frames at a time, and reads in passing what it says
 * of itself. Only frames that may say something are parsed; of the others no more is seen than that they are whole.
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

  /** @param chunks notes what the answer says of itself, for a reader that takes it over. */
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

  push(part: Buffer): boolean {
    if (this.#done) return true
    const bytes = this.#joined(part)
    if (bytes === null) return true
    // one character a byte: places in the text are places in the bytes
    const text = bytes.toString('latin1')
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

  /** Ends in the middle of an answer. @returns the beginning of the frame that has not ended. */
  leave(): Buffer {
    const rest = Buffer.concat(this.#rest)
    this.#rest = []
    return rest
  }

  /** The part behind what was kept back; null while no line of it ends, so that a very long one is joined but once. */
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

  /** Hands on what came before a frame that cannot be. @param text of the bytes, and perhaps of more behind them. */
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
        this.#look(kept, from, end)
        eventAt = this.#begun ? eventFrom(text, end) : end
      }
      from = end
    }
  }

  #look(kept: KeptBytes, from: number, end: number): void {
    const frame = kept.part(from, end)
    const shown = this.#frame(frame)
    if (shown === frame) kept.keep(from, end)
    else if (shown !== null) kept.put(end, shown)
  }

  /** @returns what is for the caller; null when nothing is. */
  #frame(frame: Buffer): Buffer | null {
    const data = dataOf(frame)
    // comments of the provider say nothing to our caller
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
    return isObject(chunk.usage) ? withCost(chunk, this.#costOf(usageOf(chunk.usage))) : chunk
  }
}

/** The frames of one part that are handed on: as few copies as there are frames left out or changed. */
class KeptBytes {
  readonly #source: Buffer
  readonly #parts: Buffer[] = []
  #from = 0
  #to = 0

  constructor(source: Buffer) {
    this.#source = source
  }

  /** Some of the bytes, as they came. */
  part(from: number, to: number): Buffer {
    return this.#source.subarray(from, to)
  }

  /** These bytes, as they are. */
  keep(from: number, to: number): void {
    if (from !== this.#to) this.#take(from)
    this.#to = to
  }

  /** Others in their place, which ends here. */
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

/** Where the next frame begins to say something of the answer; beyond the end when none does. */
const eventFrom = (text: string, from: number): number => {
  notable.lastIndex = from
  return notable.exec(text)?.index ?? text.length
}

/** How a frame of one line of JSON begins. */
const dataLine = 'data: {'

/** Whether a frame that ends here ends with its JSON object. */
const endsObject = (bytes: Buffer, end: number): boolean =>
  bytes[end - 1] === lineFeed && bytes[end - 3] === closingBrace

/** The place after the last blank line; 0 when there is none. */
const endOfFrames = (text: string): number => {
  if (text.endsWith('\n\n')) return text.length
  const plain = text.lastIndexOf('\n\n')
  const carried = text.lastIndexOf('\n\r\n')
  return Math.max(plain < 0 ? 0 : plain + 2, carried < 0 ? 0 : carried + 3)
}

/** The same, where no carriage return is. */
const plainEnd = (text: string, from: number, length: number): number => {
  const end = text.indexOf('\n\n', from)
  return end < 0 || end + 2 > length ? length : end + 2
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
