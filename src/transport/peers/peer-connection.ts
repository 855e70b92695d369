import type { Logger } from 'pino'
import type { Clock } from '#runtime/index.ts'
import { type PeerAnswer, PeerGone, type PeerRequest, PeerSilent } from '#runtime/internal.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { errorOf } from './failure.ts'
import { FrameSocket } from './frame-socket.ts'
import { Heartbeat, type PeerPace } from './heartbeat.ts'
import type { HostPort } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'
import { replyIn } from './schema.ts'
import { connectSecurely } from './secure-channel.ts'

/** Dependencies of a peer connection. */
export interface ConnectionParts {
  readonly key: Uint8Array
  readonly otherKeys?: readonly Uint8Array[]
  readonly clock: Clock
  readonly log: Logger
  /** Pace shared by all connections to the address. */
  readonly pace: PeerPace
  /** Returns the `traceparent` of the current span; null without one. */
  readonly trace?: (() => string | null) | undefined
}

interface OpenQuestion {
  readonly id: number
  readonly request: PeerRequest
  readonly trace: string | null
  readonly resolve: (answer: PeerAnswer) => void
  readonly reject: (error: unknown) => void
  readonly settled: () => void
}

/**
 * One connection to another process. Requests are sent in order; answers may arrive in any order. It is not reopened
 * after it has failed.
 */
export class PeerConnection {
  readonly #parts: ConnectionParts
  readonly #address: HostPort
  readonly #socket: FrameSocket
  readonly #heartbeat: Heartbeat
  readonly #open = new Map<number, OpenQuestion>()
  readonly #ended: (wasReady: boolean) => void
  #state: 'connecting' | 'ready' | 'ended' = 'connecting'
  #questions = 0
  #cancelDeadline: () => void

  /**
   * @param ended called once, when the connection accepts no more requests; `wasReady`: whether it was ever
   * established.
   */
  constructor(address: HostPort, parts: ConnectionParts, ended: (wasReady: boolean) => void) {
    this.#parts = parts
    this.#address = address
    this.#ended = ended
    const socket = connectSecurely(address, parts)
    socket.once('secureConnect', () => this.#connected())
    this.#socket = new FrameSocket(socket, parts.clock, {
      frame: (value) => this.#answered(value),
      closed: (error) => this.#end(error),
    })
    this.#heartbeat = new Heartbeat({
      ...parts,
      isAwaited: () => this.#open.size > 0,
      ping: () => void this.#socket.send({ id: ++this.#questions, ping: true }),
      silent: (since) => this.#silent(since),
    })
    const madeAt = parts.clock.steady()
    const late = () => this.#silent(madeAt)
    this.#cancelDeadline = parts.clock.after(peerLimits.handshakeMs, late)
  }

  /** @throws as documented at `Peers.request`. */
  request(request: PeerRequest, signal?: AbortSignal): Promise<PeerAnswer> {
    const full = this.#open.size >= peerLimits.openQuestions || this.#socket.bufferedBytes > peerLimits.bufferedMaxBytes
    if (full) return Promise.reject(new StoreUnavailable('too many questions wait for the peer'))
    return new Promise((resolve, reject) => {
      const id = ++this.#questions
      const cancelTimer = this.#parts.clock.after(peerLimits.answerMs, () => this.#tooLate(id))
      const trace = this.#parts.trace?.() ?? null
      const leave = () => this.#leave(id, signal?.reason)
      signal?.addEventListener('abort', leave)
      const settled = (): void => {
        cancelTimer()
        signal?.removeEventListener('abort', leave)
      }
      const question = { id, request, trace, resolve, reject, settled }
      this.#open.set(id, question)
      if (this.#state === 'ready') this.#send(question)
    })
  }

  /** Closes the connection; open requests are lost. */
  close(): void {
    this.#socket.cut()
    this.#end(undefined)
  }

  #send({ id, request, trace }: OpenQuestion): void {
    if (this.#socket.send({ id, ask: request, ...(trace !== null && { trace }) })) {
      this.#heartbeat.sent()
      return
    }
    this.#parts.log.error({ peer: this.#address, kind: request.kind }, 'question larger than peers take')
    this.#settle(id)?.reject(new StoreUnavailable('a question larger than peers take'))
  }

  /** The handshake has succeeded: both sides have proved that they hold the key. */
  #connected(): void {
    if (this.#state === 'ended') return
    this.#cancelDeadline()
    this.#state = 'ready'
    for (const question of this.#open.values()) this.#send(question)
  }

  #answered(value: unknown): void {
    this.#heartbeat.heard()
    const reply = replyIn(value)
    // no request is open under this id if it has timed out
    const question = this.#settle(reply.id)
    if ('answer' in reply) question?.resolve(reply.answer)
    else question?.reject(errorOf(reply.failure))
  }

  /** The requester does not wait any more: the peer may stop. */
  #leave(id: number, reason: unknown): void {
    const question = this.#settle(id)
    if (question !== undefined && this.#state === 'ready') this.#socket.send({ id, cancel: true })
    question?.reject(reason)
  }

  #tooLate(id: number): void {
    this.#settle(id)?.reject(new StoreUnavailable('the peer does not answer'))
  }

  /** The peer is silent: fails the open requests at once, and later ones open a new connection. */
  #silent(since: number): void {
    const error = new PeerSilent(this.#parts.clock.steady() - since)
    this.#socket.cut(error)
    this.#end(error)
  }

  #settle(id: number): OpenQuestion | undefined {
    const question = this.#open.get(id)
    this.#open.delete(id)
    question?.settled()
    return question
  }

  #end(error: Error | undefined): void {
    if (this.#state === 'ended') return
    const refused = error !== undefined && 'code' in error && error.code === 'ECONNREFUSED'
    if (error instanceof PeerSilent || (this.#state !== 'ready' && !refused))
      this.#parts.log.warn({ peer: this.#address, err: error }, 'connection to a peer failed')
    const wasReady = this.#state === 'ready'
    this.#state = 'ended'
    this.#cancelDeadline()
    this.#heartbeat.stop()
    this.#ended(wasReady)
    const reason = error instanceof PeerSilent ? error : new StoreUnavailable('connection lost')
    for (const id of [...this.#open.keys()])
      this.#settle(id)?.reject(refused ? new PeerGone('nobody listens there') : reason)
  }
}
