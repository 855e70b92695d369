import { BoundedBytes } from '#outgoing/bounded-body.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { type CallCache, maxStoredChars } from './call-cache.ts'

/** Bytes of a stream that are collected; to parse them takes some 10 ms. */
const maxStreamBytes = 4 * maxStoredChars

/** The stored answer of one chat, or the parts of the answer that is to be stored. */
export class ChatCache {
  readonly #cache: CallCache
  readonly #streamed: boolean
  #parts: BoundedBytes | null = null

  constructor(cache: CallCache, streamed: boolean) {
    this.#cache = cache
    this.#streamed = streamed
  }

  /** The stored answer, as a provider would send it; null: the call has to be made. */
  get answer(): Buffer | null {
    const { answer } = this.#cache
    return answer === null ? null : Buffer.from(JSON.stringify(answer))
  }

  /** Begins to collect a stream; the parts of an attempt that failed are discarded. */
  begin(): void {
    this.#parts = this.#streamed && this.#cache.keeps ? new BoundedBytes(maxStreamBytes) : null
  }

  /** Collects a part of a stream as it was received. */
  add(part: Buffer): void {
    if (this.#parts?.push(part) === false) this.#parts = null
  }

  /** Stores a streamed answer that was passed on completely. @param read converts its bytes to one document. */
  keepStream(read: (bytes: Buffer) => WireObject, costUsd: string | null): void {
    const { bytes } = this.#parts ?? {}
    if (bytes === undefined || bytes.length === 0) return
    this.#parts = null
    try {
      this.keep(read(bytes), costUsd)
    } catch {
      // the caller has the answer; it is just not stored
    }
  }

  /** Stores an answer. @param completion as it was received, before personal data is restored. */
  keep(completion: WireObject, costUsd: string | null): void {
    if (this.#cache.keeps) this.#cache.keep(completion, costUsd)
  }
}
