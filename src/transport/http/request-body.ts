import type { Ticking } from '#runtime/internal.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { BodyPace } from './body-pace.ts'
import { type BodyListener, type BodyOptions, BodyTooLarge, BodyTooSlow, ConnectionClosed } from './http-port.ts'

/** Bytes from which the parts of a body are joined in steps: those of 20 MB at once hold the loop for 10 to 20 ms. */
const longBytes = 1024 * 1024

/** Bytes buffered of a body that is not read yet; beyond them the sender is paused. */
const earlyMaxBytes = 256 * 1024

/** Reason why a body cannot be read; an error of the listener is passed on. */
type Why = 'closed' | 'too large' | 'too slow' | Error

/** Flow control of the socket that a body arrives on. */
export interface BodySource {
  pause(): void
  resume(): void
  /** Resets the timeout of a server library for a silent connection, if it has one. */
  postpone?(): void
}

const usualPace = new BodyPace()

/**
 * Collects the body of one request. Parts may arrive before they are read, since credentials are checked first, so a
 * limited number of bytes is kept until then. An unread body is dropped as it arrives, so that the sender can finish
 * and read its answer.
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
  #isHurried = false
  #listener: BodyListener | null = null
  #waiting: { resolve(body: Buffer | Promise<Buffer>): void; reject(error: Error): void } | null = null

  constructor(source: BodySource, pace = usualPace) {
    this.#source = source
    this.#pace = pace
  }

  /** Adds a part. It is not copied: the caller must not reuse its memory. */
  push(part: Buffer): void {
    if (this.#state !== 'open') return
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) {
      this.#refuse('too large')
      return
    }
    this.#parts.push(part)
    this.#listener?.arrived(this.#bytes)
    if (this.#waiting === null && this.#bytes > earlyMaxBytes && !this.#paused) this.#pause()
  }

  /** Called after the last part. */
  finish(): void {
    if (this.#state !== 'open') return
    this.#state = 'whole'
    this.#pace.leave(this)
    if (this.#waiting === null) return
    this.#waiting.resolve(this.#take())
    this.#waiting = null
  }

  /** Called when the sender has disconnected. */
  lose(): void {
    if (this.#state !== 'open') return
    this.#state = 'lost'
    this.#paused = false
    this.#fail('closed')
  }

  /** Drops the rest of the body, because the answer is sent. */
  drop(): void {
    this.#refuse('closed')
  }

  /**
   * Reads the whole body; may be called once. From this call on, the body has to arrive at a minimum rate.
   *
   * @param declaredBytes the Content-Length; 0 when there is none.
   * @throws {BodyTooLarge} over `maxBytes`, at once if the declared length is; {ConnectionClosed} when the peer has
   * disconnected or the answer is sent; {BodyTooSlow}; the error of the listener.
   */
  read(maxBytes: number, declaredBytes: number, { listener, isHurried }: BodyOptions = {}): Promise<Buffer> {
    if (this.#state === 'lost' || this.#state === 'unwanted') return Promise.reject(new ConnectionClosed())
    if (declaredBytes > maxBytes || this.#bytes > maxBytes) {
      this.drop()
      return Promise.reject(new BodyTooLarge())
    }
    if (this.#state === 'whole') return Promise.resolve(this.#take())
    this.#maxBytes = maxBytes
    this.#isHurried = isHurried ?? false
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#sinceMs = performance.now()
      this.#pace.watch(this)
      this.#follow(listener ?? null)
      this.#resume()
    })
  }

  #follow(listener: BodyListener | null): void {
    this.#listener = listener
    listener?.onRefused((error) => this.#refuse(error))
    listener?.arrived(this.#bytes)
  }

  /** Whether the body arrived too slowly; the rest of it is not read either. */
  get isTooSlow(): boolean {
    return this.#isTooSlow
  }

  tick(): void {
    this.#isTooSlow = this.#pace.isTooSlow(this.#bytes, performance.now() - this.#sinceMs, this.#isHurried)
    if (this.#isTooSlow) this.#refuse('too slow')
    else this.#source.postpone?.()
  }

  fail(): void {
    this.#refuse('closed')
  }

  /** Drops the received bytes and those still to come. */
  #refuse(why: Why): void {
    if (this.#state === 'open') this.#state = 'unwanted'
    this.#fail(why)
    this.#resume()
  }

  /** Creates the error only if a reader waits: its stack would cost more than the rest of the request. */
  #fail(why: Why): void {
    this.#parts = []
    this.#pace.leave(this)
    this.#waiting?.reject(this.#errorOf(why))
    this.#waiting = null
  }

  #errorOf(why: Why): Error {
    if (why instanceof Error) return why
    if (why === 'too slow') return new BodyTooSlow(this.#pace.rule(this.#isHurried))
    return why === 'closed' ? new ConnectionClosed() : new BodyTooLarge()
  }

  #take(): Buffer | Promise<Buffer> {
    const parts = this.#parts
    this.#parts = []
    const [first, second] = parts
    if (first !== undefined && second === undefined) return first
    return this.#bytes < longBytes ? Buffer.concat(parts, this.#bytes) : runInSlices(joined(parts, this.#bytes))
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

function* joined(parts: readonly Buffer[], bytes: number): SlicedWork<Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  for (const part of parts) {
    at += part.copy(whole, at)
    yield
  }
  return whole
}
