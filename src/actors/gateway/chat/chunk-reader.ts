import type { ChatDecoder } from '../formats/chat-format.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import type { WireObject } from '../wire.ts'
import type { AnswerReader, AnswerTaker, StreamEnd } from './answer-reader.ts'
import { isUsageOnly } from './openai-chunks.ts'

/** Hands on a stream of any format as chunks of OpenAI's form, with personal data put back where some was taken out. */
export class ChunkReader implements AnswerReader {
  readonly #taker: Pick<AnswerTaker, 'chunk'>
  readonly #decoder: ChatDecoder
  readonly #hidesUsage: boolean
  readonly #restorer: ChatRestorer | null
  #tokens = 0

  constructor(
    taker: Pick<AnswerTaker, 'chunk'>,
    decoder: ChatDecoder,
    options: { readonly hidesUsage: boolean; readonly restorer: ChatRestorer | null },
  ) {
    this.#taker = taker
    this.#decoder = decoder
    this.#hidesUsage = options.hidesUsage
    this.#restorer = options.restorer
  }

  get done(): boolean {
    return this.#decoder.done
  }

  get tokensSoFar(): number {
    return this.#tokens
  }

  push(bytes: Buffer): boolean {
    return this.#give(this.#decoder.push(bytes))
  }

  finish(): StreamEnd {
    const { chunks, end } = this.#decoder.finish()
    this.#give(chunks)
    const kept = this.#restorer?.end() ?? null
    if (kept !== null) this.#taker.chunk(kept)
    return end
  }

  #give(chunks: readonly WireObject[]): boolean {
    let wants = true
    for (const chunk of chunks) {
      this.#tokens++
      if (!(this.#hidesUsage && isUsageOnly(chunk))) wants = this.#taker.chunk(this.#restorer?.chunk(chunk) ?? chunk)
    }
    return wants
  }
}
