import { OpenAiChunks } from '../providers/openai/openai-chunks.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import { mayBeginInJson } from '../redaction/placeholders.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'
import { ChunkReader } from './chunk-reader.ts'
import { FrameReader, type FrameReaderOptions } from './frame-reader.ts'
import { OpenAiDecoder } from './openai-decoder.ts'

/**
 * Passes on a stream in OpenAI's format as received until it may contain the start of a placeholder, and from there as
 * chunks with personal data restored. Most answers never contain a placeholder, and parsing each chunk takes twice the
 * CPU time of passing on its bytes.
 */
export class FramesThenChunks implements AnswerReader {
  readonly #frames: FrameReader
  readonly #chunks: ChunkReader
  #isPlain = true

  constructor(listener: AnswerListener, options: FrameReaderOptions & { readonly restorer: ChatRestorer }) {
    const { hidesUsage, restorer } = options
    const chunks = new OpenAiChunks()
    this.#frames = new FrameReader(listener, options, chunks)
    this.#chunks = new ChunkReader(listener, new OpenAiDecoder(chunks), { hidesUsage, restorer })
  }

  get done(): boolean {
    return this.#frames.done || this.#chunks.done
  }

  get tokensSoFar(): number {
    return this.#frames.tokensSoFar + this.#chunks.tokensSoFar
  }

  push(part: Buffer): boolean {
    if (!this.#isPlain) return this.#chunks.push(part)
    const text = part.toString('latin1')
    if (!mayBeginInJson(text)) return this.#frames.push(part, text)
    this.#isPlain = false
    return this.#chunks.push(Buffer.concat([this.#frames.leave(), part]))
  }

  finish(): StreamEnd {
    return this.#isPlain ? this.#frames.finish() : this.#chunks.finish()
  }
}
