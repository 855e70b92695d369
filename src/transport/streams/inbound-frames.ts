import { ServiceError } from '#specs/errors/errors.ts'
import { countedBytes } from '../api/body/body-memory.ts'

/** Bounds of what a client sends over a socket. */
interface InboundLimits {
  /** Frames that wait for those before them, and their characters; one alone may have any length. */
  readonly queued: number
  readonly queuedChars: number
  /** Frames in one turn of the event loop: even a frame that is only refused takes some 20 µs of it. */
  readonly ofTurn: number
}

/** Dependencies of `InboundFrames`. */
export interface InboundParts {
  readonly limits: InboundLimits
  /** Reserves memory for a long frame and returns the function that releases it. @throws {ServiceError} `overloaded` */
  readonly reserveBytes: (bytes: number) => () => void
  /** Handles a frame; the next one waits for it. */
  readonly handle: (text: string) => Promise<void>
  /** Called for a frame that is not handled, with the error that says why. */
  readonly refused: (error: unknown) => void
  /** Called for more frames in one turn of the event loop than the limit. */
  readonly flooded: () => void
  /** Called for an error that `handle` did not expect. */
  readonly failed: (error: unknown) => void
}

/** Short frames reserve no memory, so there is nothing to release. */
const nothing = (): void => {}

/** Frames that a client has sent over a socket: handled one at a time, in their order, and bounded. */
export class InboundFrames {
  readonly #parts: InboundParts
  /** Resolves when all frames received so far are handled. */
  #last: Promise<void> = Promise.resolve()
  #queued = 0
  #queuedChars = 0
  #ofTurn = 0

  constructor(parts: InboundParts) {
    this.#parts = parts
  }

  receive(text: string): void {
    const { limits, handle, refused, flooded, failed } = this.#parts
    if (this.#ofTurn++ === 0) setImmediate(this.#nextTurn)
    if (this.#ofTurn > limits.ofTurn) {
      flooded()
      return
    }
    try {
      const leave = this.#admit(text.length)
      this.#last = this.#last
        .then(() => handle(text))
        .finally(leave)
        .catch(failed)
    } catch (error) {
      refused(error)
    }
  }

  readonly #nextTurn = (): void => {
    this.#ofTurn = 0
  }

  /**
   * Adds a frame to the queue and reserves memory for it; returns the function that releases both.
   *
   * @throws {ServiceError} `rate_limit_exceeded`, `overloaded`
   */
  #admit(length: number): () => void {
    const { limits, reserveBytes } = this.#parts
    const isFull = this.#queued >= limits.queued || this.#queuedChars + length > limits.queuedChars
    if (this.#queued > 0 && isFull)
      throw new ServiceError('rate_limit_exceeded', { message: 'Too many frames wait for those before them.' })
    const release = length < countedBytes ? nothing : reserveBytes(length)
    this.#queued++
    this.#queuedChars += length
    return () => {
      this.#queued--
      this.#queuedChars -= length
      release()
    }
  }
}
