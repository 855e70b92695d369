import type { Logger } from 'pino'
import { requireStillReached, type StreamPlace } from '#actors/call/reach.ts'
import { readerOf } from '#actors/call/speaker.ts'
import type { EventStream } from '#runtime/index.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { sessionSocket } from '#specs/resources/sessions.ts'
import type { HttpRequest, UpgradeDecision, WebSocketPeer } from '#transport/http/http-port.ts'
import { requestId } from '#transport/request-id.ts'
import type { StreamTicker } from '#transport/streams/credential-watch.ts'
import { ofOneAttempt } from '#transport/streams/one-attempt.ts'
import { type OpenSocket, type SessionCommands, serveSessionSocket } from '#transport/streams/session-socket.ts'
import type { StreamCounters } from '#transport/streams/sse.ts'
import { browserOf, type StreamLimit } from '#transport/streams/stream-limit.ts'
import type { BodyMemory } from '../body/body-memory.ts'
import { memoryOwner } from '../body/memory-owner.ts'
import { authorise } from '../credentials/authorise.ts'
import { refuseCrossSite } from '../credentials/csrf.ts'
import { deferredStream } from '../deferred-stream.ts'
import { platformBody } from '../envelopes.ts'
import { lastEventId } from '../last-event-id.ts'
import { inItsPlace, serviceErrorOf } from '../refuse.ts'
import { Router } from '../router.ts'
import { asPagination, asStream, asStreamQuery, textIn } from '../schema.ts'
import { reserved, type SocketCall, type SocketCallParts, SocketCalls, type SocketRequest } from './socket-calls.ts'
import { acceptOrClose, refusedUpgrade } from './upgrade-answer.ts'
import { checkHandshake } from './websocket-handshake.ts'

export interface SessionUpgradeParts extends SocketCallParts {
  readonly ticker: StreamTicker
  readonly counters: StreamCounters
  readonly streamLimit: StreamLimit
  readonly bodies: BodyMemory
  /** The server's origin as browsers see it, for `refuseCrossSite`; null: the `Host` header of the request. */
  readonly publicOrigin: string | null
  readonly log: Logger
  /** Whether the process is shutting down and opens no more sockets; absent: never. */
  readonly isDraining?: () => boolean
}

/** A request for a session's socket. */
interface UpgradeRequest extends SocketRequest {
  readonly sessionId: string
}

/**
 * Upgrades of `/v1/sessions/{session_id}/ws`. A frame is handled as the operation of its name: same access, validation
 * and use-case. The credential is checked again for each frame, so that a revoked or expired one can issue no more
 * commands.
 */
export class SessionUpgrades {
  readonly #parts: SessionUpgradeParts
  readonly #calls: SocketCalls
  readonly #router = new Router<true>()
  readonly #validator = requestValidator(sessionSocket)
  readonly #open = new Set<OpenSocket>()

  constructor(parts: SessionUpgradeParts) {
    this.#parts = parts
    this.#calls = new SocketCalls(parts)
    for (const path of sessionSocket.paths) this.#router.add('GET', path, { target: true })
  }

  /** Decides on an upgrade. Refusals use the platform's error envelope. */
  async decide(request: HttpRequest): Promise<UpgradeDecision> {
    const id = requestId(request.header('x-request-id'))
    try {
      const [sessionId] = this.#router.find(request.path)?.params ?? []
      if (sessionId === undefined) throw new ServiceError('not_found')
      checkHandshake(request)
      return await this.#accept({ request, requestId: id, sessionId })
    } catch (error) {
      return refusedUpgrade('platform', this.#shown(error, { requestId: id }), id)
    }
  }

  /** Closes every socket at shutdown, with a code that lets its client connect to another node and resume. */
  closeAll(): void {
    for (const socket of this.#open) socket.handOver()
  }

  /** @throws {ServiceError} `shutting_down` */
  #checkStays(): void {
    if (this.#parts.isDraining?.() === true) throw new ServiceError('shutting_down', { retryAfterS: 1 })
  }

  async #accept(upgrade: UpgradeRequest): Promise<UpgradeDecision> {
    const { request } = upgrade
    const { streamLimit, clientAddress } = this.#parts
    this.#checkStays()
    const principal = await this.#parts.authenticator.authenticate(request)
    authorise(sessionSocket, principal)
    if (principal.kind === 'dashboard') refuseCrossSite(request, this.#parts.publicOrigin)
    const browser = browserOf(principal, () => clientAddress(request))
    if (browser !== null) streamLimit.check(browser)
    const query = this.#validator.query(request.query)
    const newest = await this.#newest(upgrade)
    const place = await this.#placeOf(upgrade)
    await this.#recheck(request, place)
    const owner = memoryOwner(principal, () => clientAddress(request))
    const names = asStreamQuery(query).event_names ?? request.header('x-event-names')
    const options = {
      shortNames: names === 'short',
      reader: readerOf(principal),
      after: lastEventId(sessionSocket, request, query),
      errorData: (error: unknown) => platformBody(this.#shown(error, upgrade), upgrade.requestId),
      ticker: this.#parts.ticker,
      counters: this.#parts.counters,
      log: this.#parts.log,
      recheck: () => this.#recheck(request, place),
      reserveBytes: (bytes: number) => reserved(this.#parts.bodies.tryEnter(owner, bytes)),
    }
    const accept = (peer: WebSocketPeer): void => {
      // a shutdown may have begun during the awaits above
      this.#checkStays()
      const release = browser === null ? () => {} : streamLimit.take(browser)
      let socket: OpenSocket | undefined
      const onLeave = (): void => {
        if (socket !== undefined) this.#open.delete(socket)
        release()
      }
      socket = serveSessionSocket(peer, this.#commands(upgrade, { newest, query }), { ...options, onLeave })
      if (!socket.over) this.#open.add(socket)
    }
    return { accept: (peer) => acceptOrClose(peer, accept) }
  }

  /**
   * Checks the credential again, that it still reaches the session's tenant and installation, and that the tenant is not
   * suspended.
   *
   * @throws {ServiceError} `tenant_suspended`
   */
  async #recheck(request: HttpRequest, place: StreamPlace): Promise<void> {
    const principal = await this.#parts.authenticator.authenticate(request)
    authorise(sessionSocket, principal)
    if (principal.kind === 'public') return
    if (place.tenant !== null) await this.#parts.tenants.admit(principal.project, place.tenant)
    await requireStillReached(principal, place)
  }

  async #placeOf(upgrade: UpgradeRequest): Promise<StreamPlace> {
    const session = await this.#obey('sessions.get', upgrade, {})
    return { tenant: textIn(session, 'tenant_id'), installation: textIn(session, 'installation_id') }
  }

  #commands(
    upgrade: UpgradeRequest,
    { newest, query }: { readonly newest: number; readonly query: unknown },
  ): SessionCommands {
    const shown = asStreamQuery(query).restarts === true ? (stream: EventStream) => stream : ofOneAttempt
    return {
      turn: (body) => this.#obey('sessions.turns', upgrade, { body }),
      approve: (body) => this.#obey('sessions.approve', upgrade, { body }),
      reject: (body) => this.#obey('sessions.reject', upgrade, { body }),
      cancel: () => this.#obey('sessions.cancel', upgrade, { body: {} }),
      follow: (after) =>
        deferredStream(
          async () => shown(await this.#follow(upgrade, after ?? newest)),
          (error) => this.#shown(error, upgrade),
        ),
    }
  }

  #shown(error: unknown, { requestId: id }: Pick<UpgradeRequest, 'requestId'>): ServiceError {
    return inItsPlace(serviceErrorOf(error, { requestId: id, endpoint: null }, this.#parts.log), sessionSocket)
  }

  async #follow(upgrade: UpgradeRequest, after: number): Promise<EventStream> {
    return asStream(await this.#obey('sessions.stream', upgrade, { after })).stream
  }

  /** Sequence of the session's newest event. @throws {ServiceError} `not_found` when the caller may not see the session. */
  async #newest(upgrade: UpgradeRequest): Promise<number> {
    const call = { params: { session_id: upgrade.sessionId }, query: { page: 1, limit: 1 } }
    return asPagination(await this.#calls.read('sessions.events', upgrade, call)).pagination.total
  }

  #obey(id: string, upgrade: UpgradeRequest, call: SocketCall): Promise<unknown> {
    return this.#calls.obey(id, upgrade, { ...call, params: { session_id: upgrade.sessionId } })
  }
}
