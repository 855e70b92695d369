import type { Socket } from 'node:net'
import type { Clock } from '#runtime/index.ts'
import { LineReader } from './line-reader.ts'
import { peerLimits } from './peer-limits.ts'

/** Listener for the events of a connection. */
export interface FrameListener {
  /** Called with each received JSON line. An exception cuts the connection. */
  frame(value: unknown): void
  /** Called once when the connection has closed; with the error, if any. */
  closed(error: Error | undefined): void
}

/** Silence in ms after which the kernel checks whether the other machine is still reachable. */
const keepAliveMs = 5000

/** JSON values over one connection, one per line. Values sent in one turn of the event loop are written together. */
export class FrameSocket {
  readonly #socket: Socket
  readonly #clock: Pick<Clock, 'soon'>
  readonly #reader = new LineReader(peerLimits.frameMaxBytes)
  #lines: string[] = []
  #error: Error | undefined

  constructor(socket: Socket, clock: Pick<Clock, 'soon'>, ears: FrameListener) {
    this.#socket = socket
    this.#clock = clock
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveMs)
    socket.on('data', (bytes: Buffer) => this.#receive(bytes, ears))
    socket.on('error', (error) => {
      this.#error = error
      // Node leaves a connection open on which a record could not be decrypted
      socket.destroy()
    })
    socket.on('close', () => ears.closed(this.#error))
  }

  /** Bytes that the other side has not accepted yet. */
  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  /** Sends a value at the end of this loop turn. Returns false, and sends nothing, when it is too large. */
  send(value: object): boolean {
    const line = JSON.stringify(value)
    // a character has at most 3 bytes: shorter lines need not be measured
    if (line.length * 3 > peerLimits.frameMaxBytes && Buffer.byteLength(line) > peerLimits.frameMaxBytes) return false
    if (this.#lines.push(line) === 1) this.#clock.soon(() => this.#flush())
    return true
  }

  /** Closes the connection once everything sent so far is written. */
  end(): void {
    this.#flush()
    this.#socket.end()
  }

  /** Cuts the connection. */
  cut(error?: Error): void {
    this.#socket.destroy(error)
  }

  #flush(): void {
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    if (this.#socket.writable) this.#socket.write(`${lines.join('\n')}\n`)
  }

  #receive(bytes: Buffer, ears: FrameListener): void {
    try {
      this.#reader.push(bytes, (line) => {
        if (!this.#socket.destroyed) ears.frame(JSON.parse(line))
      })
    } catch (error) {
      this.cut(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
