import type { Logger } from 'pino'
import type { EventSink, EventStream, StreamControl, StreamEnding } from '#runtime/index.ts'
import type { Ticker, Ticking } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import { countedBytes } from '../api/body/body-memory.ts'
import { Containment } from '../http/containment.ts'
import { type WebSocketPeer, websocketMaxBytes } from '../http/http-port.ts'
import { wireLimits } from '../http/wire-limits.ts'
import { CredentialWatch, type Recheck } from './credential-watch.ts'
import { endedFrame } from './ended-frame.ts'
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
  readonly ticker: Ticker
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

/** Maximum number of queued frames, and of their characters; a client that sends more gets `rate_limit_exceeded`. */
const queuedMax = 32
const queuedMaxLength = websocketMaxBytes

/** Maximum number of frames in one turn of the event loop: even a frame that is only refused takes some 20 µs of it. */
const turnMax = 256

/** Short frames reserve no memory, so there is nothing to release. */
const nothing = (): void => {}

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
  #follower: Follower | null = null
  /** Resolves when all frames received so far are handled; frames are handled one at a time. */
  #last: Promise<void> = Promise.resolve()
  #queued = 0
  #queuedLength = 0
  /** Number of frames received in this turn of the event loop. */
  #ofTurn = 0
  #blocked = false
  #blockedTicks = 0
  #over = false

  constructor(peer: WebSocketPeer, commands: SessionCommands, options: SessionSocketOptions) {
    this.#peer = peer
    this.#commands = commands
    this.#options = options
    this.#containment = new Containment(options.log)
    this.#watch = new CredentialWatch(options.recheck ?? (() => {}), (reason) =>
      this.contain(() => this.#refused(reason)),
    )
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
    this.#boundBuffer()
    return !this.#blocked
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

  tick(): void {
    this.#watch.tick()
    if (this.#blocked && ++this.#blockedTicks > wireLimits.blockedMaxTicks) this.#giveUp()
  }

  #receive(text: string): void {
    if (this.#over) return
    if (this.#ofTurn++ === 0) setImmediate(this.#nextTurn)
    if (this.#ofTurn > turnMax) {
      this.#close(1008, 'too many frames at once')
      return
    }
    try {
      const leave = this.#admit(text.length)
      this.#last = this.#last
        .then(() => this.#handle(text))
        .finally(leave)
        .catch((error: unknown) => this.fail(error))
    } catch (error) {
      this.#refuse(error)
    }
  }

  readonly #nextTurn = (): void => {
    this.#ofTurn = 0
  }

  /**
   * Adds a frame to the queue and reserves memory for it; returns the function that releases both.
   *
   * @throws {ServiceError}
   */
  #admit(length: number): () => void {
    const isFull = this.#queued >= queuedMax || this.#queuedLength + length > queuedMaxLength
    if (this.#queued > 0 && isFull) throw new ServiceError('rate_limit_exceeded')
    const releaseBytes = length < countedBytes ? nothing : (this.#options.reserveBytes?.(length) ?? nothing)
    this.#queued++
    this.#queuedLength += length
    return () => {
      this.#queued--
      this.#queuedLength -= length
      releaseBytes()
    }
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
    this.#boundBuffer()
  }

  #boundBuffer(): void {
    if (this.#blocked && this.#peer.bufferedBytes > wireLimits.bufferedMaxBytes) this.#giveUp()
  }

  #send(frame: object): void {
    this.#sendText(JSON.stringify(frame))
  }

  #sendText(text: string): void {
    if (this.#over || this.#peer.send(text) || this.#blocked) return
    this.#blocked = true
    this.#blockedTicks = 0
  }

  #follow(after: number | null): void {
    this.#follower?.stop()
    this.#follower = new Follower(this)
    this.#follower.start(this.#commands.follow(after))
  }

  #onDrain(): void {
    this.#blocked = false
    this.#follower?.resume()
  }

  #refused(reason: StreamEndReason): void {
    if (reason === 'deleted') this.ended(reason)
    else {
      this.#send(endedFrame(reason))
      this.#close(1008, 'the credential has ended')
    }
  }

  #giveUp(): void {
    this.#close(1013, 'reader too slow')
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
