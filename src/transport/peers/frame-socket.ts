import type { Socket } from 'node:net'
import type { Clock } from '#runtime/clock.ts'
import { LineReader } from './line-reader.ts'
import { peerLimits } from './peer-limits.ts'

/** What a connection reports of itself. */
export interface FrameEars {
  /** A line of JSON came. A throw cuts the connection. */
  frame(value: unknown): void
  /** Nothing comes any more; with what went wrong, when something did. */
  closed(error: Error | undefined): void
}

/** How long a connection may be silent before the kernel checks whether the other machine is still there, in ms. */
const keepAliveMs = 5000

/** JSON over one connection, one value a line. What is sent in one turn of the event loop travels together. */
export class FrameSocket {
  readonly #socket: Socket
  readonly #clock: Pick<Clock, 'soon'>
  readonly #reader = new LineReader(peerLimits.frameMaxBytes)
  #lines: string[] = []
  #error: Error | undefined

  constructor(socket: Socket, clock: Pick<Clock, 'soon'>, ears: FrameEars) {
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

  /** Bytes that the other side has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  /** Sends a value at the end of this loop turn. False, and nothing is sent, when it is too large. */
  send(value: object): boolean {
    const line = JSON.stringify(value)
    // a character is 3 bytes at most: only then counting is worth it
    if (line.length * 3 > peerLimits.frameMaxBytes && Buffer.byteLength(line) > peerLimits.frameMaxBytes) return false
    if (this.#lines.push(line) === 1) this.#clock.soon(() => this.#flush())
    return true
  }

  /** Closes once everything that was sent is out. */
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

  #receive(bytes: Buffer, ears: FrameEars): void {
    try {
      this.#reader.push(bytes, (line) => {
        if (!this.#socket.destroyed) ears.frame(JSON.parse(line))
      })
    } catch (error) {
      this.cut(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
