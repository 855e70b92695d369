import type { Logger } from 'pino'
import type { RealtimeClient, RealtimeSession } from '#gateway/realtime/realtime-client.ts'
import { errorEvent, eventIdOf } from '#gateway/realtime/server-event.ts'
import { maxValuesOfShort, parseJson } from '#outgoing/shares/json-body.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { Ticking } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { Containment } from '../http/containment.ts'
import { type WebSocketPeer, websocketMaxBytes } from '../http/http-port.ts'
import { CredentialWatch, type Recheck, type StreamTicker } from './credential-watch.ts'
import { InboundFrames } from './inbound-frames.ts'
import { OutboundFrames } from './outbound-frames.ts'
import type { StreamCounters } from './sse.ts'

export interface RealtimeSocketOptions {
  readonly ticker: StreamTicker
  readonly counters: StreamCounters
  readonly log: Logger
  /** Checks the credential every few seconds; the socket is closed when it throws. */
  readonly recheck: Recheck
  /** Reserves memory for a long frame. @throws {ServiceError} `overloaded` */
  readonly reserveBytes: (bytes: number) => () => void
  /** Returns the error that is shown for a failure, which it logs if it is internal. */
  readonly shown: (failure: unknown) => ServiceError
  readonly onLeave: () => void
}

const ended = { message: 'The credential has ended.' }

/** Limits of a session. */
const realtimeLimits = {
  /** Seconds without an event of either side after which a session ends. */
  idleS: 15 * 60,
  /** Seconds after which a session ends in any case. */
  totalS: 60 * 60,
  inbound: { queued: 512, queuedChars: 2 * websocketMaxBytes, ofTurn: 256 },
} as const

/** The socket of a realtime session: bounds what a client sends, in order, and what it leaves unread. */
export class RealtimeSocket implements Ticking, RealtimeClient {
  place = -1
  readonly #peer: WebSocketPeer
  readonly #options: RealtimeSocketOptions
  readonly #containment: Containment
  readonly #watch: CredentialWatch
  readonly #inbound: InboundFrames
  readonly #outbound: OutboundFrames
  #session: RealtimeSession | null = null
  #idleTicks = 0
  #ticks = 0
  #isOver = false

  constructor(peer: WebSocketPeer, options: RealtimeSocketOptions) {
    this.#peer = peer
    this.#options = options
    this.#containment = new Containment(options.log)
    this.#watch = new CredentialWatch(options.recheck, () =>
      this.#contain(() => this.#end(new ServiceError('authentication_required', ended), 1008)),
    )
    this.#outbound = new OutboundFrames(peer, () => this.close(1013, 'reader too slow'))
    this.#inbound = new InboundFrames({
      limits: realtimeLimits.inbound,
      reserveBytes: options.reserveBytes,
      handle: (text) => this.#handle(text),
      refused: (error) => void this.send(errorEvent(options.shown(error))),
      flooded: () => this.close(1008, 'too many events at once'),
      failed: (error) => this.fail(error),
    })
  }

  get over(): boolean {
    return this.#isOver
  }

  /** Opens the session on the socket. */
  start(open: (client: RealtimeClient) => RealtimeSession): void {
    const { counters, ticker } = this.#options
    counters.openStreams++
    ticker.add(this)
    this.#peer.onMessage((text) => this.#receive(text))
    this.#peer.onDrain(() => this.#drained())
    this.#peer.onClose(() => this.#leave())
    this.#contain(() => {
      this.#session = open(this)
      if (this.#isOver) this.#session.leave()
    })
  }

  /** Closes the socket at a shutdown. */
  handOver(): void {
    this.close(1012, 'connect again')
  }

  send(event: string): boolean {
    if (this.#isOver) return true
    this.#idleTicks = 0
    this.#options.counters.eventsSent++
    this.#outbound.send(event)
    this.#outbound.bound()
    return !this.#outbound.isBlocked
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return
    this.#peer.close(code, reason)
    this.#leave()
  }

  recheck(): void {
    this.#watch.recheck()
  }

  tick(): void {
    this.#watch.tick()
    this.#session?.tick()
    this.#outbound.tick()
    const isIdle = ++this.#idleTicks > realtimeLimits.idleS
    if (++this.#ticks <= realtimeLimits.totalS && !isIdle) return
    const why = isIdle ? 'no event for 15 minutes' : 'its longest duration of 60 minutes'
    this.#end(new ServiceError('session_expired', { message: `The realtime session ended after ${why}.` }), 1000)
  }

  fail(error: unknown): void {
    this.#containment.failed('realtime', error, this.#break)
  }

  #receive(text: string): void {
    if (this.#isOver) return
    this.#idleTicks = 0
    this.#inbound.receive(text)
  }

  async #handle(text: string): Promise<void> {
    if (this.#isOver) return
    let about: string | null = null
    try {
      const event = await readEvent(text)
      about = eventIdOf(event)
      if (!this.#isOver) await this.#session?.take(event, text)
    } catch (error) {
      this.send(errorEvent(this.#options.shown(error), about))
    }
  }

  #drained(): void {
    this.#outbound.drained()
    this.#contain(() => this.#session?.drained())
  }

  #contain(work: () => void): void {
    this.#containment.run('realtime', work, this.#break)
  }

  readonly #break = (): void => {
    try {
      this.close(1011, 'internal error')
    } finally {
      this.#leave()
    }
  }

  #end(error: ServiceError, code: number): void {
    this.send(errorEvent(error))
    this.close(code, error.code)
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.ticker.delete(this)
    this.#options.counters.openStreams--
    this.#options.onLeave()
    this.#contain(() => this.#session?.leave())
  }
}

/** @throws {ServiceError} `malformed_json`, `body_too_large`, `bad_request`, `missing_field` */
const readEvent = async (text: string): Promise<WireObject> => {
  const parsed = parseJson(Buffer.from(text), maxValuesOfShort)
  const value = parsed instanceof Promise ? await parsed : parsed
  if (!isObject(value)) throw new ServiceError('bad_request', { message: 'An event must be a JSON object.' })
  if (typeof value.type !== 'string') throw new ServiceError('missing_field', { param: 'type' })
  return value
}
