import { ServiceError } from '#specs/errors/errors.ts'
import { bytesOf } from './pcm.ts'

/** Maximum audio of one item: about three minutes. */
const maxBytes = 8 * 1024 * 1024

/** Audio of the client that is not an item yet. */
export class AudioBuffer {
  #parts: Buffer[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** @throws {ServiceError} `body_too_large` */
  add(audio: Buffer): void {
    if (this.#bytes + audio.length > maxBytes)
      throw new ServiceError('body_too_large', { message: `The buffer takes ${maxBytes} bytes of audio. Commit it.` })
    this.#parts.push(audio)
    this.#bytes += audio.length
  }

  /** Forgets all but the last `ms`: what was silent before speech. */
  keepLast(ms: number): void {
    const kept = bytesOf(ms)
    while (this.#bytes - (this.#parts[0]?.length ?? 0) >= kept && this.#parts.length > 0)
      this.#bytes -= this.#parts.shift()?.length ?? 0
  }

  /** Returns the audio, and begins a new buffer. */
  take(): Buffer {
    const all = Buffer.concat(this.#parts)
    this.clear()
    return all
  }

  clear(): void {
    this.#parts = []
    this.#bytes = 0
  }
}
