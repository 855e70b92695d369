import type { Ticking } from '#runtime/ticker.ts'
import { BodyPace } from './body-pace.ts'
import { BodyTooLarge, BodyTooSlow, ConnectionClosed } from './http-port.ts'

/** Bytes that are kept of a body that is not read yet; more makes the sender wait. */
const earlyMaxBytes = 256 * 1024

/** Why a body is not given. */
type Why = 'closed' | 'too large' | 'too slow'

/** How a body makes its socket to stop and go on. */
export interface BodySource {
  pause(): void
  resume(): void
  /** Puts off the limit that a server's library has for a silent connection, where it has one. */
  postpone?(): void
}

const usualPace = new BodyPace()

/**
 * Collects the body of one request. Parts may arrive before they are read (credentials are checked first), so a
 * limited number of bytes is kept until then. What is not read is dropped as it arrives: the sender can finish and
 * read its answer.
 */
export class RequestBody implements Ticking {
  place = -1
  readonly #source: BodySource
  readonly #pace: BodyPace
  #sinceMs = 0
  #parts: Buffer[] = []
  #bytes = 0
  #maxBytes = Number.POSITIVE_INFINITY
  #state: 'open' | 'whole' | 'lost' | 'unwanted' = 'open'
  #paused = false
  #isTooSlow = false
  #waiting: { resolve(body: Buffer): void; reject(error: Error): void } | null = null

  constructor(source: BodySource, pace = usualPace) {
    this.#source = source
    this.#pace = pace
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
    this.#pace.leave(this)
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
   * The whole body, once. From here on it has to come at a least pace.
   *
   * @param declaredBytes the Content-Length; 0 when there is none.
   * @throws {BodyTooLarge} over `maxBytes`, at once when the declared length is; {ConnectionClosed} when the peer is
   * gone or the answer is out; {BodyTooSlow}.
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
      this.#sinceMs = performance.now()
      this.#pace.watch(this)
      this.#resume()
    })
  }

  /** Whether it was given up because it came too slowly: what is left of it is not read either. */
  get isTooSlow(): boolean {
    return this.#isTooSlow
  }

  tick(): void {
    this.#isTooSlow = this.#pace.isTooSlow(this.#bytes, performance.now() - this.#sinceMs)
    if (this.#isTooSlow) this.#refuse('too slow')
    else this.#source.postpone?.()
  }

  fail(): void {
    this.#refuse('closed')
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
    this.#pace.leave(this)
    this.#waiting?.reject(this.#errorOf(why))
    this.#waiting = null
  }

  #errorOf(why: Why): Error {
    if (why === 'too slow') return new BodyTooSlow(this.#pace.rule)
    return why === 'closed' ? new ConnectionClosed() : new BodyTooLarge()
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
