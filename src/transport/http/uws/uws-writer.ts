import { Ticker, type Ticking } from '#runtime/ticker.ts'
import type { BodyWriter } from '../http-port.ts'
import type { UwsResponse } from './uws-binding.ts'

/** The most that is given to the library at once, so that little lies in its own, unmeasurable buffer. */
const sliceBytes = 64 * 1024

/** The first write after a stall: small, for its result alone shows whether the library's buffer has gone. */
const probeBytes = 16

/** How often the library's ten-second limit is put off for a reader that takes nothing, and how many times. */
const nudgeMs = 4_000
const nudgesMax = 15

const nothing = (): void => {}

const stalledWriters = new Ticker(nudgeMs)

/** What a writer needs of the response that it belongs to. */
export interface UwsBody {
  readonly uws: UwsResponse
  readonly closed: boolean
  /** Writes status and headers, unless they are out. */
  writeHead(): void
  /** Ends the answer, with or without a last part. */
  finish(part: string | Uint8Array): void
  /** Cuts the connection. */
  cut(): void
  /** Runs what the library calls: a throw ends the connection, and is not seen by the library. */
  contain(work: () => void): void
}

/**
 * A chunked body on uWebSockets.js.
 *
 * A part goes straight to the library while the reader keeps up. When the socket is full, parts wait in a queue of
 * ours. The library does not say how much it holds, and with an `onWritable` listener it sends what it holds only
 * on the next write or uncork: hence the probe and the empty corks.
 */
export class UwsWriter implements BodyWriter, Ticking {
  place = -1
  readonly #body: UwsBody
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  /** Upper bound of what the library holds. */
  #heldBytes = 0
  /** A write has found the socket full. */
  #stalled = false
  #nudges = 0
  /** The socket takes bytes again, but whether the library holds some still is not known. */
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
    // A UTF-16 unit becomes at most three bytes.
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

  /** The connection is gone or the answer is out: nothing is owed any more. */
  release(): void {
    stalledWriters.delete(this)
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#heldBytes = 0
  }

  fail(): void {
    this.abort()
  }

  /** Puts off the library's limit, as long as the reader may take nothing at all, by an empty attempt to send. */
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

  /** Gives queued slices until the socket is full. False when it is. */
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
