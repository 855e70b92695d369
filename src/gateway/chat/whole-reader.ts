import { BoundedBytes } from '#outgoing/bounded-body.ts'
import { parsedAtOnce } from '#outgoing/shares/parsed-answer.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import type { FormatRequest } from '../call/chat-format.ts'
import { streamBroken } from '../call/failure.ts'
import { chunksOf } from '../providers/chunks-of.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'
import { writtenLength } from './chat-record.ts'
import { maxBytesAtOnce, readWhole } from './whole-answer.ts'

const openingBrace = 0x7b
/** Whitespace of JSON. */
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Detects the kind of an answer from its first bytes: JSON begins with a brace, an event stream never does. */
export const kindOf = (part: Buffer): 'blank' | 'json' | 'events' => {
  const first = part.find((byte) => !blanks.has(byte))
  return first === undefined ? 'blank' : first === openingBrace ? 'json' : 'events'
}

/** Options for reading a non-streamed answer. */
export interface WholeReaderOptions {
  /** Format of the provider; null for OpenAI's own. */
  readonly format: FormatRequest | null
  readonly hidesUsage: boolean
  readonly restorer: ChatRestorer | null
}

/**
 * Converts a complete answer to a stream, for servers that answered so although a stream was requested: some compatible
 * servers do so always, or for some models. Nothing is passed on until the answer is complete, so that after a failure
 * another route can be tried.
 */
export class WholeReader implements AnswerReader {
  readonly #listener: Pick<AnswerListener, 'chunk'>
  readonly #options: WholeReaderOptions
  readonly #body = new BoundedBytes(maxBytesAtOnce)
  #tokens = 0
  readonly done = false

  constructor(listener: Pick<AnswerListener, 'chunk'>, options: WholeReaderOptions) {
    this.#listener = listener
    this.#options = options
  }

  get tokensSoFar(): number {
    return this.#tokens
  }

  push(bytes: Buffer): boolean {
    if (!this.#body.push(bytes)) throw streamBroken()
    return true
  }

  finish(): StreamEnd {
    const { format, hidesUsage, restorer } = this.#options
    const { bytes } = this.#body
    const { completion: whole, ...end } = readWhole(bytes, parsedAtOnce(bytes), format)
    const completion = restorer === null ? whole : atOnce(restorer.completion(whole))
    this.#tokens = tokensOfChars(writtenLength(completion))
    for (const chunk of chunksOf(completion, !hidesUsage)) this.#listener.chunk(chunk)
    return end
  }
}
