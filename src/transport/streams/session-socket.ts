import type { Logger } from 'pino'
import type { EventSink, EventStream, StreamControl, StreamEnding } from '#runtime/index.ts'
import type { Ticking } from '#runtime/internal.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import { Containment } from '../http/containment.ts'
import { type WebSocketPeer, websocketMaxBytes } from '../http/http-port.ts'
import { CredentialWatch, type Recheck, type StreamTicker } from './credential-watch.ts'
import { endedFrame } from './ended-frame.ts'
import { InboundFrames } from './inbound-frames.ts'
import { OutboundFrames } from './outbound-frames.ts'
import { type ClientFrame, readClientFrame } from './session-frames.ts'
import type { StreamCounters } from './sse.ts'
import { type FrameOptions, socketFrame } from './sse-frames.ts'

/**
 * Commands that a session's WebSocket accepts. Each resolves when it is durable; its events arrive through `follow`.
 */
export interface SessionCommands {
  /** @param body the turn request, not validated yet. */
  turn(body: JsonObject): Promise<unknown>
  /** @param body `action_id` and optionally `tool_results`. */
  approve(body: JsonObject): Promise<unknown>
  /** @param body `action_id`. */
  reject(body: JsonObject): Promise<unknown>
  cancel(): Promise<unknown>
  /** Returns the session's events with `sequence > after`, then live ones; `after` null: live ones only. */
  follow(after: number | null): EventStream
}

/** Options of a session's WebSocket. */
export interface SessionSocketOptions extends FrameOptions {
  /** Sequence after which the stream starts when the socket opens; null for live events only. */
  readonly after: number | null
  /** Returns the data of an error frame: the platform's envelope. Called for every error, including internal ones. */
  readonly errorData: (error: unknown) => object
  /** Ticks every second. */
  readonly ticker: StreamTicker
  readonly counters: StreamCounters
  readonly log: Logger
  /** Checks the credential every few seconds; the socket is closed when it throws. */
  readonly recheck?: Recheck
  /**
   * Reserves memory for a long frame and returns the function that releases it; absent: unlimited.
   *
   * @throws {ServiceError} `overloaded`
   */
  readonly reserveBytes?: (bytes: number) => () => void
  /** Called once when the socket is closed. */
  readonly onLeave?: () => void
}

/** An open socket, as seen by a shutdown. */
export interface OpenSocket {
  /** Whether the socket is closed or closing. */
  readonly over: boolean
  /** Closes the socket with a code that makes its client connect to another node and resume. */
  handOver(): void
}

const inboundLimits = { queued: 32, queuedChars: websocketMaxBytes, ofTurn: 256 } as const

/** Absent: memory is not limited. */
const unlimited = () => () => {}

/**
 * A session over one WebSocket (`sessions.socket`): commands in, the session's events out.
 *
 * The socket follows the session's log, so that every event is sent once and in order, whichever caller caused it.
 * `resume` rewinds: it starts the log again after the sequence given in the frame.
 */
export const serveSessionSocket = (
  peer: WebSocketPeer,
  commands: SessionCommands,
  options: SessionSocketOptions,
): OpenSocket => {
  const socket = new SessionSocket(peer, commands, options)
  socket.open()
  return socket
}

class SessionSocket implements Ticking, OpenSocket {
  place = -1
  readonly #peer: WebSocketPeer
  readonly #commands: SessionCommands
  readonly #options: SessionSocketOptions
  readonly #containment: Containment
  readonly #watch: CredentialWatch
  readonly #inbound: InboundFrames
  readonly #outbound: OutboundFrames
  #follower: Follower | null = null
  #over = false

  constructor(peer: WebSocketPeer, commands: SessionCommands, options: SessionSocketOptions) {
    this.#peer = peer
    this.#commands = commands
    this.#options = options
    this.#containment = new Containment(options.log)
    this.#watch = new CredentialWatch(options.recheck ?? (() => {}), (reason) =>
      this.contain(() => this.#refused(reason)),
    )
    this.#outbound = new OutboundFrames(peer, () => this.#close(1013, 'reader too slow'))
    this.#inbound = new InboundFrames({
      limits: inboundLimits,
      reserveBytes: options.reserveBytes ?? unlimited,
      handle: (text) => this.#handle(text),
      refused: (error) => this.#refuse(error),
      flooded: () => this.#close(1008, 'too many frames at once'),
      failed: (error) => this.fail(error),
    })
  }

  get over(): boolean {
    return this.#over
  }

  handOver(): void {
    this.contain(() => this.ended('lost'))
  }

  open(): void {
    this.#peer.onMessage((text) => this.#receive(text))
    this.#peer.onDrain(() => this.#onDrain())
    this.#peer.onClose(() => this.#leave())
    this.#options.counters.openStreams++
    this.#options.ticker.add(this)
    this.#follow(this.#options.after)
  }

  /** Sends events; false when the peer reads too slowly. */
  forward(events: readonly LogEvent[]): boolean {
    this.#options.counters.eventsSent += events.length
    for (const event of events) this.#sendText(socketFrame(event, this.#options))
    this.#outbound.bound()
    return !this.#outbound.isBlocked
  }

  /**
   * Closes the socket when the log has ended (`done`), was deleted, or can no longer be followed here (`lost`: the
   * client may reconnect and resume).
   */
  ended(reason: StreamEnding): void {
    if (reason === 'lost') this.#close(1012, 'connect again and resume')
    else if (reason === 'done') this.#close(1000, 'session ended')
    else {
      this.#send(endedFrame('deleted'))
      this.#close(1000, 'session deleted')
    }
  }

  recheck(): void {
    this.#watch.recheck()
  }

  tick(): void {
    this.#watch.tick()
    this.#outbound.tick()
  }

  #receive(text: string): void {
    if (!this.#over) this.#inbound.receive(text)
  }

  fail(error: unknown): void {
    this.#containment.failed('socket', error, this.#break)
  }

  /**
   * Runs work that another component (the feed) calls: an exception closes this socket and does not reach the caller.
   */
  contain(work: () => void): void {
    this.#containment.run('socket', work, this.#break)
  }

  readonly #break = (): void => {
    try {
      this.#close(1011, 'internal error')
    } finally {
      this.#leave()
    }
  }

  async #handle(text: string): Promise<void> {
    try {
      if (!this.#over) await this.#obey(await readClientFrame(text))
    } catch (error) {
      this.#refuse(error)
    }
  }

  async #obey(frame: ClientFrame): Promise<void> {
    if (frame.type === 'resume') this.#follow(frame.after)
    else if (frame.type === 'cancel') await this.#commands.cancel()
    else await this.#commands[frame.type](frame.body)
  }

  #refuse(error: unknown): void {
    this.#send({ event: 'error', data: this.#options.errorData(error) })
    this.#outbound.bound()
  }

  #send(frame: object): void {
    this.#sendText(JSON.stringify(frame))
  }

  #sendText(text: string): void {
    if (!this.#over) this.#outbound.send(text)
  }

  #follow(after: number | null): void {
    this.#follower?.stop()
    this.#follower = new Follower(this)
    this.#follower.start(this.#commands.follow(after))
  }

  #onDrain(): void {
    this.#outbound.drained()
    this.#follower?.resume()
  }

  #refused(reason: StreamEndReason): void {
    if (reason === 'deleted') this.ended(reason)
    else {
      this.#send(endedFrame(reason))
      this.#close(1008, 'the credential has ended')
    }
  }

  #close(code: number, reason: string): void {
    if (this.#over) return
    this.#peer.close(code, reason)
    this.#leave()
  }

  #leave(): void {
    if (this.#over) return
    this.#over = true
    this.#follower?.stop()
    this.#options.ticker.delete(this)
    this.#options.counters.openStreams--
    this.#options.onLeave?.()
  }
}

/**
 * One subscription to the log. Events that arrive after `stop` are dropped, because a later subscription has taken
 * over.
 */
class Follower implements EventSink {
  readonly #socket: SessionSocket
  #control: StreamControl | null = null
  #stopped = false

  constructor(socket: SessionSocket) {
    this.#socket = socket
  }

  start(stream: EventStream): void {
    this.#control = stream.start(this)
    if (this.#stopped) this.#control.stop()
  }

  resume(): void {
    if (!this.#stopped) this.#control?.resume()
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#control?.stop()
  }

  push(events: readonly LogEvent[]): boolean {
    let more = false
    this.#socket.contain(() => {
      more = !this.#stopped && this.#socket.forward(events)
    })
    return more
  }

  end(reason: StreamEnding): void {
    if (!this.#stopped) this.#socket.contain(() => this.#socket.ended(reason))
  }
}
