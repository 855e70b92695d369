import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { TextMessages } from './text-messages.ts'
import {
  closePayload,
  closeReply,
  encodeFrame,
  type Frame,
  FrameError,
  FrameReader,
  opcodes,
} from './websocket-frames.ts'

/** Receives what a server sends. */
export interface WebSocketListener {
  message(text: string): void
  /** What was sent has left: a client whose `send` returned false may continue. */
  drained(): void
  /** The server has answered a ping. */
  pong(): void
  /** Called once, last. @param code that of the server's close frame; 1006 for a connection that broke. */
  closed(code: number, reason: string): void
}

const nothing = Buffer.alloc(0)
/** Time in ms that a server has to answer our close frame. */
const closeTimeoutMs = 5_000
/** Bytes that a server may leave unread, whatever they are; beyond them the connection is cut. */
const unreadMaxBytes = 32 * 1024 * 1024

/** The client side of one open WebSocket: RFC 6455 without extensions, messages are texts. */
export class WebSocketClient {
  readonly #socket: Duplex
  readonly #listener: WebSocketListener
  readonly #reader: FrameReader
  readonly #messages: TextMessages
  #isPaused = false
  #isClosing = false
  #isOver = false
  #code = 1006
  #reason = ''

  /** @param socket of `openWebSocket`. @param maxBytes of a message. */
  constructor(socket: Duplex, listener: WebSocketListener, maxBytes: number) {
    this.#socket = socket
    this.#listener = listener
    this.#reader = new FrameReader(maxBytes, false)
    this.#messages = new TextMessages(maxBytes)
  }

  /** Begins to read. */
  start(): void {
    const socket = this.#socket
    socket.on('drain', () => this.#contain(() => this.#listener.drained()))
    socket.on('end', () => socket.end())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#leave())
    socket.on('data', (part: Buffer) => this.#receive(part))
    socket.resume()
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  /** Sends a text. False when the server reads too slowly: wait for `drained`. The text is accepted in any case. */
  send(text: string): boolean {
    return this.#write(opcodes.text, Buffer.from(text))
  }

  ping(): void {
    this.#write(opcodes.ping, nothing)
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  /** Delivers what arrived before the pause took effect, then reads on. */
  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#deliver()
    if (!this.#isPaused) this.#socket.resume()
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return
    this.#write(opcodes.close, closePayload(code, reason))
    this.#isClosing = true
    this.#socket.end()
    this.#socket.resume()
    const timer = setTimeout(() => this.#socket.destroy(), closeTimeoutMs).unref()
    this.#socket.once('close', () => clearTimeout(timer))
  }

  #write(opcode: number, payload: Buffer): boolean {
    if (this.#isClosing || this.#socket.destroyed) return true
    if (this.#socket.writableLength > unreadMaxBytes) this.#socket.destroy()
    return this.#socket.write(encodeFrame(opcode, payload, randomBytes(4)))
  }

  #receive(part: Buffer): void {
    this.#reader.push(part)
    this.#deliver()
  }

  #deliver(): void {
    this.#contain(() => {
      while (!this.#isPaused) {
        const frame = this.#reader.next()
        if (frame === null) return
        this.#take(frame)
      }
    })
  }

  /** Runs a callback of the connection: an exception ends it, and not the process. */
  #contain(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (error instanceof FrameError) this.close(error.closeCode, error.message)
      else this.#socket.destroy()
    }
  }

  #take(frame: Frame): void {
    if (frame.opcode === opcodes.ping) this.#write(opcodes.pong, frame.payload)
    else if (frame.opcode === opcodes.close) this.#closedBy(frame.payload)
    else if (frame.opcode === opcodes.pong) this.#listener.pong()
    else {
      const message = this.#messages.add(frame)
      if (message !== null && !this.#isClosing) this.#listener.message(message)
    }
  }

  #closedBy(payload: Buffer): void {
    this.#code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
    this.#reason = payload.subarray(2).toString('utf8')
    this.close(closeReply(payload), '')
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isClosing = true
    this.#listener.closed(this.#code, this.#reason)
  }
}
