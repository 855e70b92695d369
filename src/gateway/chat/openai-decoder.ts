import { SseDecoder } from '#outgoing/sse-decoder.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { ChatDecoder } from '../call/chat-format.ts'
import { OpenAiChunks } from './openai-chunks.ts'
import { RepeatedChunk } from './repeated-chunk.ts'

/**
 * Decodes a stream in OpenAI's own format to chunks. The chunks before a failure are returned; `finish` throws the
 * failure.
 */
export class OpenAiDecoder implements ChatDecoder {
  readonly #read: OpenAiChunks
  readonly #repeated = new RepeatedChunk()
  readonly #sse = new SseDecoder((data) => this.#event(data))
  #chunks: WireObject[] = []
  #done = false
  #failure: unknown = null

  /** @param read metadata of the part of the answer that another reader has read. */
  constructor(read: OpenAiChunks = new OpenAiChunks()) {
    this.#read = read
  }

  get done(): boolean {
    return this.#done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    this.#chunks = []
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
    } else this.#chunks.push(this.#repeated.read(data) ?? this.#parsed(data))
  }

  #parsed(data: string): WireObject {
    const { chunk } = this.#read.read(data)
    this.#repeated.note(data, chunk)
    return chunk
  }
}
