import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '#runtime/index.ts'
import type { PeerRequest, PeerService } from '#runtime/internal.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { failureOf } from './failure.ts'
import { FrameSocket } from './frame-socket.ts'
import { peerLimits } from './peer-limits.ts'
import { cancelIn, pingIn, type Question, questionIn } from './schema.ts'

/** Runs work in the span of a `traceparent`. */
export type TracedWork = <T>(traceparent: string, work: () => T) => T

/** Dependencies of the serving side. */
export interface ServedParts {
  readonly service: PeerService
  readonly traced?: TracedWork | undefined
  readonly clock: Clock
  readonly log: Logger
}

const elsewhere = { kind: 'elsewhere' } as const

/** The serving side of one connection, whose other side has proved that it holds the key. */
export class ServedPeer {
  readonly #parts: ServedParts
  readonly #socket: FrameSocket
  readonly #gone: () => void
  /** Requests in progress, by id. */
  readonly #open = new Map<number, AbortController>()
  #leaving = false

  /** @param gone called once, when the connection is closed. */
  constructor(socket: Socket, parts: ServedParts, gone: () => void) {
    this.#parts = parts
    this.#gone = gone
    this.#socket = new FrameSocket(socket, parts.clock, {
      frame: (value) => this.#take(value),
      closed: (error) => this.#closed(error),
    })
  }

  /** Closes the connection once open requests are answered; later ones are answered with `elsewhere`. */
  leave(): void {
    this.#leaving = true
    this.#endWhenDone()
  }

  cut(): void {
    this.#socket.cut()
  }

  #take(value: unknown): void {
    const cancelled = cancelIn(value)
    const ping = pingIn(value)
    if (cancelled !== undefined) this.#open.get(cancelled)?.abort(notAwaited())
    else if (ping === undefined) void this.#answer(questionIn(value))
    else if (this.#socket.bufferedBytes > peerLimits.bufferedMaxBytes) this.cut()
    else this.#socket.send({ id: ping, answer: { kind: 'done' } })
  }

  async #answer({ id, request, trace }: Question): Promise<void> {
    const waiting = new AbortController()
    this.#open.set(id, waiting)
    const { traced } = this.#parts
    const answering = () => this.#replyTo(request, waiting.signal)
    const reply = await (trace === null || traced === undefined ? answering() : traced(trace, answering))
    this.#open.delete(id)
    if (!this.#socket.send({ id, ...reply })) {
      this.#parts.log.error({ kind: request?.kind }, 'answer larger than peers take')
      this.#socket.send({ id, failure: { unavailable: 'an answer larger than peers take' } })
    }
    // the peer sends without reading: it is lost, and if not, it sends its requests again
    if (this.#socket.bufferedBytes > peerLimits.bufferedMaxBytes) this.cut()
    if (this.#leaving) this.#endWhenDone()
  }

  async #replyTo(request: PeerRequest | null, signal: AbortSignal): Promise<object> {
    if (this.#leaving) return { answer: elsewhere }
    if (request === null) {
      this.#parts.log.warn('a peer asks what this release does not know')
      return { answer: elsewhere }
    }
    if (this.#open.size > peerLimits.openQuestions) return { failure: { unavailable: 'too many questions' } }
    try {
      return { answer: await this.#parts.service(request, signal) }
    } catch (error) {
      return { failure: this.#failure(request, error) }
    }
  }

  #failure({ kind }: PeerRequest, error: unknown): object {
    const failure = failureOf(error)
    if (failure !== undefined) return failure
    this.#parts.log.error({ kind, err: error }, 'question of a peer failed')
    return { unavailable: 'the peer failed' }
  }

  #endWhenDone(): void {
    if (this.#open.size === 0) this.#socket.end()
  }

  #closed(error: Error | undefined): void {
    if (error !== undefined) this.#parts.log.warn({ err: error }, 'connection of a peer broken off')
    this.#gone()
    for (const waiting of this.#open.values()) waiting.abort(notAwaited())
  }
}

const notAwaited = () => new StoreUnavailable('the answer is not waited for any more')
