const empty = Buffer.alloc(0)

/**
 * The payload of one message, which may arrive in fragments. It is kept in one buffer: a list of the fragments would
 * take some 100 bytes for each, also for those of one byte.
 */
export class MessageBuffer {
  #bytes: Buffer = empty
  #length = 0

  /** Number of bytes. */
  get length(): number {
    return this.#length
  }

  append(payload: Buffer): void {
    const length = this.#length + payload.length
    if (this.#length === 0) this.#bytes = payload
    else if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    if (this.#bytes !== payload) payload.copy(this.#bytes, this.#length)
    this.#length = length
  }

  /** Returns the payload, and begins a new message. */
  take(): Buffer {
    const whole = this.#bytes.subarray(0, this.#length)
    this.#bytes = empty
    this.#length = 0
    return whole
  }
}
