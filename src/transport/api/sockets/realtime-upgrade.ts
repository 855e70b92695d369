import type { Logger } from 'pino'
import { requireStillReached } from '#actors/call/reach.ts'
import { type Caller, callerOf } from '#gateway/call/caller.ts'
import type { AgentOperations } from '#gateway/realtime/agent/agent-operations.ts'
import type { Realtime } from '#gateway/realtime/open-realtime.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { realtimeSocket } from '#specs/resources/gateway/realtime.ts'
import type { JsonObject } from '#storage/index.ts'
import type { HttpRequest, UpgradeDecision, WebSocketPeer } from '#transport/http/http-port.ts'
import { requestId } from '#transport/request-id.ts'
import type { StreamTicker } from '#transport/streams/credential-watch.ts'
import { RealtimeSocket } from '#transport/streams/realtime-socket.ts'
import type { StreamCounters } from '#transport/streams/sse.ts'
import { browserOf, type StreamLimit } from '#transport/streams/stream-limit.ts'
import { attributionOf } from '../attribution.ts'
import type { BodyMemory } from '../body/body-memory.ts'
import { memoryOwner } from '../body/memory-owner.ts'
import type { LastingAuthenticator } from '../credentials/authenticator.ts'
import { authorise, scopeFor } from '../credentials/authorise.ts'
import { checkReach, limitedScope } from '../credentials/reached-tenant.ts'
import { deferredStream } from '../deferred-stream.ts'
import { serviceErrorOf } from '../refuse.ts'
import { asPagination, asStream, numberIn, textIn } from '../schema.ts'
import { LastingSecrets } from './lasting-secrets.ts'
import { reserved, type SocketCallParts, SocketCalls, type SocketRequest } from './socket-calls.ts'
import { acceptOrClose, refusedUpgrade } from './upgrade-answer.ts'
import { checkHandshake } from './websocket-handshake.ts'

export interface RealtimeUpgradeParts extends SocketCallParts {
  readonly authenticator: LastingAuthenticator
  readonly realtime: Realtime
  readonly ticker: StreamTicker
  readonly counters: StreamCounters
  readonly streamLimit: StreamLimit
  readonly bodies: BodyMemory
  readonly log: Logger
  readonly isDraining: () => boolean
}

const nothing = { tenant: null, user: null }

/** Upgrades of `/v1/realtime`. */
export class RealtimeUpgrades {
  readonly #parts: Omit<RealtimeUpgradeParts, 'authenticator'> & SocketCallParts
  readonly #calls: SocketCalls
  readonly #secrets: LastingSecrets
  readonly #validator = requestValidator(realtimeSocket)
  readonly #open = new Set<RealtimeSocket>()

  constructor(parts: RealtimeUpgradeParts) {
    this.#secrets = new LastingSecrets(parts.authenticator)
    const calls = { ...parts, authenticator: this.#secrets }
    this.#parts = calls
    this.#calls = new SocketCalls(calls)
  }

  takes({ path }: Pick<HttpRequest, 'path'>): boolean {
    return realtimeSocket.paths.includes(path)
  }

  /** Decides on an upgrade. Refusals use the envelope of OpenAI's API. */
  async decide(request: HttpRequest): Promise<UpgradeDecision> {
    const socket = { request, requestId: requestId(request.header('x-request-id')) }
    try {
      checkHandshake(request)
      return await this.#accept(socket)
    } catch (error) {
      return refusedUpgrade('openai', this.#shown(error, socket), socket.requestId)
    }
  }

  /** Closes every socket at shutdown, with a code that lets its client connect to another node. */
  closeAll(): void {
    for (const socket of this.#open) socket.handOver()
  }

  async #accept(socket: SocketRequest): Promise<UpgradeDecision> {
    const { request } = socket
    const { streamLimit, clientAddress, realtime, bodies, ticker, counters, log } = this.#parts
    this.#checkStays()
    const caller = await this.#callerOf(socket)
    const { principal } = caller
    const browser = browserOf(principal, () => clientAddress(request))
    if (browser !== null) streamLimit.check(browser)
    const query = this.#validator.query(request.query)
    const offer = await realtime.offer({
      ...{ caller, model: textIn(query, 'model'), sessionId: textIn(query, 'session_id') },
      operations: this.#operations(socket),
    })
    const owner = memoryOwner(principal, () => clientAddress(request))
    const accept = (peer: WebSocketPeer): void => {
      // a shutdown may have begun during the awaits above
      this.#checkStays()
      const release = browser === null ? () => {} : streamLimit.take(browser)
      const opened: RealtimeSocket = new RealtimeSocket(peer, {
        ...{ ticker, counters, log },
        recheck: () => this.#recheck(socket, caller),
        reserveBytes: (bytes) => reserved(bodies.tryEnter(owner, bytes)),
        shown: (failure) => this.#shown(failure, socket),
        onLeave: () => {
          this.#open.delete(opened)
          release()
        },
      })
      this.#open.add(opened)
      opened.start((client) => offer.open(client))
    }
    const protocol = offersRealtime(request) ? { protocol: 'realtime' } : {}
    return { accept: (peer) => acceptOrClose(peer, accept), ...protocol }
  }

  /** Identifies the caller as for a request: its rights, the tenant and user that it names. @throws {ServiceError} */
  async #callerOf({ request, requestId: id }: SocketRequest) {
    const { authenticator, tenants } = this.#parts
    const principal = await authenticator.authenticate(request)
    this.#secrets.keep(request, principal)
    authorise(realtimeSocket, principal)
    const naming = { principal, request, params: {}, query: {}, body: undefined }
    await checkReach(realtimeSocket, naming)
    const attribution = await attributionOf(tenants, realtimeSocket, { principal, request, about: nothing, query: {} })
    if (principal.kind !== 'public' && attribution?.tenant) await tenants.admit(principal.project, attribution.tenant)
    const scope = limitedScope(realtimeSocket, naming, scopeFor(realtimeSocket, principal, attribution))
    return callerOf({ principal, scope, requestId: id, attribution, via: request.header('via') })
  }

  /** A credential that has ended, or whose tenant was suspended, ends the session, and so does a user being deleted. */
  async #recheck(
    { request }: SocketRequest,
    { tenant, externalUserId }: Pick<Caller, 'tenant' | 'externalUserId'>,
  ): Promise<void> {
    const { authenticator, tenants } = this.#parts
    const principal = await authenticator.authenticate(request)
    authorise(realtimeSocket, principal)
    if (principal.kind === 'public' || tenant === null) return
    await tenants.admit(principal.project, tenant)
    await tenants.remains(principal.project, tenant, externalUserId)
    await requireStillReached(principal, { tenant, installation: null })
  }

  #operations(socket: SocketRequest): AgentOperations {
    const of = (session_id: string) => ({ session_id })
    const obey = async (id: string, session: string, body: JsonObject): Promise<void> => {
      await this.#calls.obey(id, socket, { params: of(session), body })
    }
    return {
      create: async (body) => {
        const session = await this.#calls.obey('sessions.create', socket, { body: { metadata: {}, ...body } })
        return textIn(session, 'id') ?? ''
      },
      find: async (id) => {
        const session = await this.#calls.obey('sessions.get', socket, { params: of(id) })
        const query = { page: 1, limit: 1 }
        const events = await this.#calls.read('sessions.events', socket, { params: of(id), query })
        const newest = asPagination(events).pagination.total
        return { agentId: textIn(session, 'agent_id'), newest, costUsd: costIn(session) }
      },
      cost: async (id) => costIn(await this.#calls.obey('sessions.get', socket, { params: of(id) })),
      turn: (id, body) => obey('sessions.turns', id, body),
      approve: (id, body) => obey('sessions.approve', id, body),
      reject: (id, body) => obey('sessions.reject', id, body),
      cancel: (id) => obey('sessions.cancel', id, {}),
      follow: (id, after) =>
        deferredStream(
          async () => asStream(await this.#calls.obey('sessions.stream', socket, { params: of(id), after })).stream,
          (error) => this.#shown(error, socket),
        ),
    }
  }

  /** @throws {ServiceError} `shutting_down` */
  #checkStays(): void {
    if (this.#parts.isDraining()) throw new ServiceError('shutting_down', { retryAfterS: 1 })
  }

  #shown(error: unknown, { requestId: id }: SocketRequest): ServiceError {
    return serviceErrorOf(error, { requestId: id, endpoint: null }, this.#parts.log)
  }
}

const costIn = (session: unknown): number => numberIn(session, 'total_cost') ?? 0

const offersRealtime = (request: HttpRequest): boolean =>
  (request.header('sec-websocket-protocol') ?? '').split(',', 16).some((each) => each.trim() === 'realtime')
