import type { Duplex } from 'node:stream'
import { acceptOf } from '#outgoing/websocket/open-websocket.ts'
import { TextMessages } from '#outgoing/websocket/text-messages.ts'
import {
  closePayload,
  closeReply,
  encodeFrame,
  type Frame,
  FrameError,
  FrameReader,
  opcodes,
} from '#outgoing/websocket/websocket-frames.ts'
import type { Ticking } from '#runtime/internal.ts'
import type { BodyPace } from '../body-pace.ts'
import type { Containment } from '../containment.ts'
import { type WebSocketPeer, websocketMaxBytes } from '../http-port.ts'
import { wireLimits } from '../wire-limits.ts'
import { UnfinishedMessage } from './unfinished-message.ts'

/** Time in ms that a peer has to answer our close frame. */
const closeTimeoutMs = 5_000

const nothing = Buffer.alloc(0)

/** Returns the 101 response that switches a connection to WebSocket, and to a subprotocol if the client offered one. */
export const acceptHead = (key: string, protocol?: string): string => {
  const chosen = protocol === undefined ? '' : `sec-websocket-protocol: ${protocol}\r\n`
  return `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${acceptOf(key)}\r\n${chosen}\r\n`
}

/** What every socket of a server uses. */
export interface NodeWebSocketParts {
  readonly containment: Containment
  readonly pace: BodyPace
}

/** One accepted WebSocket over a plain socket: RFC 6455 without extensions. */
export class NodeWebSocket implements WebSocketPeer, Ticking {
  place = -1
  readonly #socket: Duplex
  readonly #containment: Containment
  readonly #reader = new FrameReader(websocketMaxBytes)
  readonly #messages = new TextMessages(websocketMaxBytes)
  readonly #unfinished: UnfinishedMessage
  #closing = false
  #gone = false
  #alive = true
  #message: (text: string) => void = () => {}
  #closed: () => void = () => {}
  #drained: () => void = () => {}

  constructor(socket: Duplex, { containment, pace }: NodeWebSocketParts) {
    this.#socket = socket
    this.#containment = containment
    this.#unfinished = new UnfinishedMessage(pace, () => this.close(1008, 'message too slow'))
    socket.on('data', (part: Buffer) => this.contain(() => this.#receive(part)))
    socket.on('drain', () => this.contain(() => this.#drained()))
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.end())
    socket.on('close', () => this.#leave())
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  send(text: string): boolean {
    return this.#write(opcodes.text, Buffer.from(text))
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener
  }

  onClose(listener: () => void): void {
    this.#closed = listener
  }

  onDrain(listener: () => void): void {
    this.#drained = listener
  }

  close(code: number, reason: string): void {
    if (this.#closing) return
    this.#write(opcodes.close, closePayload(code, reason))
    this.#closing = true
    this.#socket.end()
    const timer = setTimeout(() => this.#socket.destroy(), closeTimeoutMs).unref()
    this.#socket.once('close', () => clearTimeout(timer))
    this.#leave()
  }

  /** Cuts the connection. */
  cut(): void {
    this.#socket.destroy()
  }

  /** Pings the peer, or cuts it when it has sent nothing since the last ping. */
  tick(): void {
    if (!this.#alive) this.cut()
    this.#alive = false
    this.#write(opcodes.ping, nothing)
  }

  /** Bytes that arrived together with the upgrade request. */
  start(head: Buffer): void {
    if (head.length > 0) this.contain(() => this.#receive(head))
  }

  /** Runs a callback of the connection: an exception closes it with code 1011. */
  contain(work: () => void): void {
    this.#containment.run('socket', work, () => this.close(1011, 'internal error'))
  }

  fail(): void {
    this.cut()
  }

  #write(opcode: number, payload: Buffer): boolean {
    if (this.#closing || this.#socket.destroyed) return true
    if (this.#socket.writableLength > wireLimits.socketMaxBytes) this.cut()
    return this.#socket.write(encodeFrame(opcode, payload))
  }

  #receive(part: Buffer): void {
    this.#alive = true
    if (this.#closing) return
    this.#reader.push(part)
    try {
      for (let frame = this.#reader.next(); frame !== null && !this.#closing; frame = this.#reader.next())
        this.#take(frame)
      this.#unfinished.arrived(part.length, this.#reader.isWithinFrame || this.#messages.isWithinMessage)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.close(error.closeCode, error.message)
    }
  }

  #take(frame: Frame): void {
    if (frame.opcode === opcodes.ping) this.#write(opcodes.pong, frame.payload)
    else if (frame.opcode === opcodes.close) this.close(closeReply(frame.payload), '')
    else if (frame.opcode !== opcodes.pong) {
      const message = this.#messages.add(frame)
      if (message !== null) this.#message(message)
    }
  }

  #leave(): void {
    if (this.#gone) return
    this.#gone = true
    this.#closing = true
    this.#unfinished.end()
    this.contain(() => this.#closed())
  }
}
