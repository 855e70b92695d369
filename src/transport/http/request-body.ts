import { BodyTooLarge, ConnectionClosed } from './http-port.ts'

/** Bytes that are kept of a body that is not read yet; more makes the sender wait. */
const earlyMaxBytes = 256 * 1024

/** Why a body is not given. */
type Why = 'closed' | 'too large'

/** How a body makes its socket to stop and go on. */
export interface BodySource {
  pause(): void
  resume(): void
}

/**
 * Collects the body of one request. Parts may arrive before they are read (credentials are checked first), so a
 * limited number of bytes is kept until then. What is not read is dropped as it arrives: the sender can finish and
 * read its answer.
 */
export class RequestBody {
  readonly #source: BodySource
  #parts: Buffer[] = []
  #bytes = 0
  #maxBytes = Number.POSITIVE_INFINITY
  #state: 'open' | 'whole' | 'lost' | 'unwanted' = 'open'
  #paused = false
  #waiting: { resolve(body: Buffer): void; reject(error: Error): void } | null = null

  constructor(source: BodySource) {
    this.#source = source
  }

  /** Takes a part. The bytes must stay the caller's to give: they are not copied here. */
  push(part: Buffer): void {
    if (this.#state !== 'open') return
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) {
      this.#refuse('too large')
      return
    }
    this.#parts.push(part)
    if (this.#waiting === null && this.#bytes > earlyMaxBytes && !this.#paused) this.#pause()
  }

  /** The last part has been pushed. */
  finish(): void {
    if (this.#state !== 'open') return
    this.#state = 'whole'
    if (this.#waiting === null) return
    this.#waiting.resolve(this.#take())
    this.#waiting = null
  }

  /** The sender is gone. */
  lose(): void {
    if (this.#state !== 'open') return
    this.#state = 'lost'
    this.#paused = false
    this.#fail('closed')
  }

  /** No reader comes any more: the answer is out. */
  drop(): void {
    this.#refuse('closed')
  }

  /**
   * The whole body, once.
   *
   * @param declaredBytes the Content-Length; 0 when there is none.
   * @throws {BodyTooLarge} over `maxBytes`, at once when the declared length is; {ConnectionClosed} when the peer is
   * gone or the answer is out.
   */
  read(maxBytes: number, declaredBytes: number): Promise<Buffer> {
    if (this.#state === 'lost' || this.#state === 'unwanted') return Promise.reject(new ConnectionClosed())
    if (declaredBytes > maxBytes || this.#bytes > maxBytes) {
      this.drop()
      return Promise.reject(new BodyTooLarge())
    }
    if (this.#state === 'whole') return Promise.resolve(this.#take())
    this.#maxBytes = maxBytes
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#resume()
    })
  }

  /** Drops what has come and what is still to come. */
  #refuse(why: Why): void {
    if (this.#state === 'open') this.#state = 'unwanted'
    this.#fail(why)
    this.#resume()
  }

  /** The error is made only for one who waits: its stack would cost more than all else in a request. */
  #fail(why: Why): void {
    this.#parts = []
    this.#waiting?.reject(why === 'closed' ? new ConnectionClosed() : new BodyTooLarge())
    this.#waiting = null
  }

  #take(): Buffer {
    const [first, second] = this.#parts
    const whole = first !== undefined && second === undefined ? first : Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    return whole
  }

  #pause(): void {
    this.#paused = true
    this.#source.pause()
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resume()
  }
}
