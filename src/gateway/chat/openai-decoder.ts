import { SseDecoder } from '#outgoing/sse-decoder.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { ChatDecoder } from '../call/chat-format.ts'
import { OpenAiChunks } from '../providers/openai/openai-chunks.ts'
import { RepeatedChunk } from './repeated-chunk.ts'

/**
 * Decodes a stream in OpenAI's own format to chunks. The chunks before a failure are returned; `finish` throws the
 * failure.
 */
export class OpenAiDecoder implements ChatDecoder {
  readonly #read: OpenAiChunks
  readonly #repeated = new RepeatedChunk()
  readonly #sse = new SseDecoder((data) => this.#event(data))
  readonly #gathersWords: boolean
  #chunks: WireObject[] = []
  #words = ''
  #done = false
  #failure: unknown = null

  /**
   * @param read metadata of the part of the answer that another reader has read.
   * @param gathersWords whether `words` replaces chunks that have nothing but text of the first choice.
   */
  constructor(read: OpenAiChunks = new OpenAiChunks(), gathersWords = false) {
    this.#read = read
    this.#gathersWords = gathersWords
  }

  get words(): string {
    return this.#words
  }

  get done(): boolean {
    return this.#done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    this.#chunks = []
    this.#words = ''
    try {
      this.#sse.push(bytes)
    } catch (error) {
      this.#failure = error
      this.#done = true
    }
    return this.#chunks
  }

  finish(): ReturnType<ChatDecoder['finish']> {
    if (this.#failure !== null) throw this.#failure
    return { chunks: [], end: this.#read.end() }
  }

  #event(data: string): void {
    if (this.#done) return
    if (data === '[DONE]') {
      this.#read.end()
      this.#done = true
    } else if (!this.#gathers(data)) this.#chunks.push(this.#repeated.read(data) ?? this.#parsed(data))
  }

  /** Adds the text of a chunk that has nothing else. Text behind a chunk of the same bytes stays a chunk, in its order. */
  #gathers(data: string): boolean {
    const isNext = this.#gathersWords && this.#chunks.length === 0 && this.#repeated.isOfFirst
    const words = isNext ? this.#repeated.words(data) : null
    if (words !== null) this.#words += words
    return words !== null
  }

  #parsed(data: string): WireObject {
    const { chunk } = this.#read.read(data)
    this.#repeated.note(data, chunk)
    return chunk
  }
}
