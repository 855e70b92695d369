import { Ticker, type Ticking } from '#runtime/internal.ts'
import type { BodyWriter } from '../http-port.ts'
import type { UwsResponse } from './uws-binding.ts'

/** Maximum number of bytes given to the library at once, since its buffer cannot be measured and should stay small. */
const sliceBytes = 64 * 1024

/**
 * Size of the first write after a stall: small, because only its result shows whether the library's buffer is empty.
 */
const probeBytes = 16

/**
 * Interval in ms at which the library's ten-second timeout is reset for a reader that accepts nothing, and the maximum
 * number of resets.
 */
const nudgeMs = 4_000
const nudgesMax = 15

const nothing = (): void => {}

const stalledWriters = new Ticker(nudgeMs)

/** The response, as seen by its writer. */
export interface UwsBody {
  readonly uws: UwsResponse
  readonly closed: boolean
  /** Writes status and headers, unless they are already written. */
  writeHead(): void
  /** Ends the answer, with or without a last part. */
  finish(part: string | Uint8Array): void
  /** Cuts the connection. */
  cut(): void
  /** Runs a callback of the library: an exception ends the connection and does not reach the library. */
  contain(work: () => void): void
}

/**
 * A chunked body on uWebSockets.js.
 *
 * A part goes straight to the library while the reader keeps up. While the socket is full, parts wait in a queue of
 * this class. The library does not report how much it buffers, and with an `onWritable` listener it sends its buffer
 * only on the next write or uncork: hence the probe and the empty corks.
 */
export class UwsWriter implements BodyWriter, Ticking {
  place = -1
  readonly #body: UwsBody
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  /** Upper bound of the bytes in the library's buffer. */
  #heldBytes = 0
  /** Whether a write has found the socket full. */
  #stalled = false
  #nudges = 0
  /** Whether the socket accepts bytes again while the library may still have some in its buffer. */
  #uncertain = false
  #ending = false
  #drained: (() => void) | null = null
  #part: string | Uint8Array = ''
  #sent = true

  constructor(body: UwsBody) {
    this.#body = body
    body.uws.onWritable(() => {
      body.contain(() => this.#onWritable())
      return true
    })
  }

  get bufferedBytes(): number {
    return this.#queuedBytes + this.#heldBytes
  }

  write(part: string | Uint8Array): boolean {
    if (this.#body.closed || this.#ending) return true
    // a UTF-16 unit becomes at most three bytes
    if (!this.#stalled && !this.#uncertain && part.length <= sliceBytes / 3) return this.#give(part)
    this.#enqueue(part)
    return !this.#stalled && this.#flush()
  }

  onDrain(listener: () => void): void {
    this.#drained = listener
  }

  end(part: string | Uint8Array = ''): void {
    if (this.#body.closed || this.#ending) return
    this.#ending = true
    if (this.#queue.length === 0) this.#body.finish(part)
    else this.#enqueue(part)
  }

  abort(): void {
    if (!this.#body.closed) this.#body.cut()
  }

  /** Forgets all queued parts: the connection is closed or the answer is complete. */
  release(): void {
    stalledWriters.delete(this)
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#heldBytes = 0
  }

  fail(): void {
    this.abort()
  }

  /** Resets the library's timeout with an empty attempt to send, for as long as a reader may accept nothing. */
  tick(): void {
    if (this.#nudges++ < nudgesMax) this.#body.uws.cork(nothing)
  }

  readonly #corked = (): void => {
    this.#body.writeHead()
    this.#sent = this.#body.uws.write(this.#part)
  }

  /** Hands one slice to the library. False when the socket is full. */
  #give(part: string | Uint8Array): boolean {
    if (part.length === 0) return true
    this.#part = part
    this.#body.uws.cork(this.#corked)
    if (!this.#sent) this.#stall(part)
    return this.#sent
  }

  #stall(part: string | Uint8Array): void {
    this.#heldBytes = this.#uncertain ? sliceBytes : Buffer.byteLength(part)
    this.#stalled = true
    this.#nudges = 0
    stalledWriters.add(this)
  }

  #enqueue(part: string | Uint8Array): void {
    const bytes = typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)
    for (let at = 0; at < bytes.length; at += sliceBytes) this.#queue.push(bytes.subarray(at, at + sliceBytes))
    this.#queuedBytes += bytes.length
  }

  /** Hands over queued slices until the socket is full. False when it is. */
  #flush(): boolean {
    for (let slice = this.#nextSlice(); slice !== undefined; slice = this.#nextSlice()) {
      this.#queuedBytes -= slice.length
      if (!this.#give(slice)) return false
      this.#uncertain = false
    }
    return true
  }

  #nextSlice(): Buffer | undefined {
    const slice = this.#queue.shift()
    if (slice === undefined || !this.#uncertain || slice.length <= probeBytes) return slice
    this.#queue.unshift(slice.subarray(probeBytes))
    return slice.subarray(0, probeBytes)
  }

  #onWritable(): void {
    if (this.#body.closed) return
    if (this.#queue.length === 0) this.#body.uws.cork(nothing)
    if (!this.#stalled) return
    this.#stalled = false
    this.#uncertain = true
    stalledWriters.delete(this)
    if (!this.#flush()) return
    this.#heldBytes = 0
    if (this.#ending) this.#body.finish('')
    else this.#drained?.()
  }
}
