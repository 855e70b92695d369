import type { ChatDecoder } from '../formats/chat-format.ts'
import { SseDecoder } from '../sse-decoder.ts'
import type { WireObject } from '../wire.ts'
import { OpenAiChunks } from './openai-chunks.ts'

/** Decodes a stream of OpenAI's own format, for takers that want its chunks one by one. */
export class OpenAiDecoder implements ChatDecoder {
  readonly #read = new OpenAiChunks()
  readonly #sse = new SseDecoder((data) => this.#event(data))
  #chunks: WireObject[] = []
  #done = false

  get done(): boolean {
    return this.#done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    this.#chunks = []
    this.#sse.push(bytes)
    return this.#chunks
  }

  finish(): ReturnType<ChatDecoder['finish']> {
    return { chunks: [], end: this.#read.end() }
  }

  #event(data: string): void {
    if (this.#done) return
    if (data === '[DONE]') {
      this.#read.end()
      this.#done = true
    } else this.#chunks.push(this.#read.read(data).chunk)
  }
}
