import type { Logger } from 'pino'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { consolePaths } from '#specs/reach/console-paths.ts'
import { sessionCookieName } from '../actors/accounts/session-cookie.ts'
import { operations } from '../actors/capabilities.ts'
import type { Actors } from '../actors/open-actors.ts'
import { stuckKinds, Ticker } from '../actors/runtime/internal.ts'
import { forEachInSlices } from '../concurrency/run-in-slices.ts'
import type { TrustedProxies } from '../config.ts'
import type { RecordStore, RedisState } from '../storage/index.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { BodyMemory } from './api/body/body-memory.ts'
import type { LastingAuthenticator } from './api/credentials/authenticator.ts'
import { projectOrigins } from './api/credentials/project-origins.ts'
import { authenticatorOf } from './api/credentials/request-credentials.ts'
import { Dispatcher } from './api/dispatcher.ts'
import { endpointsOf } from './api/endpoint.ts'
import { RealtimeUpgrades } from './api/sockets/realtime-upgrade.ts'
import { SessionUpgrades } from './api/sockets/session-upgrade.ts'
import { clientAddressReader } from './client-address.ts'
import { DocsSite } from './docs/docs-site.ts'
import { type Health, openHealth } from './health.ts'
import { Containment } from './http/containment.ts'
import type { HttpHandler, HttpRequest, HttpResponse, HttpServer } from './http/http-port.ts'
import { wireLimits } from './http/wire-limits.ts'
import { McpEndpoint } from './mcp/mcp-endpoint.ts'
import { OAuthEndpoint } from './mcp/oauth-endpoint.ts'
import { Metrics } from './metrics.ts'
import { logReadiness, openProcessState, readinessOf } from './process-state.ts'
import { showProduct } from './product-gauges.ts'
import { NamedResponse } from './request-id.ts'
import type { StaticFiles } from './static-files.ts'
import type { StreamTicker } from './streams/credential-watch.ts'
import { SseStreams } from './streams/sse.ts'
import { StreamLimit } from './streams/stream-limit.ts'

/** Dependencies and options of the transport. */
export interface TransportParts {
  readonly actors: Actors
  readonly ping: () => Promise<void>
  /** State of Redis, for probes; absent for a single process. */
  readonly redis?: (() => RedisState) | undefined
  readonly console: StaticFiles
  /** Folder with the pages of the documentation. */
  readonly docsFolder: string
  /** The server's origin as browsers see it; null: the `Host` header of the request. */
  readonly publicOrigin: string | null
  /** Proxies whose `X-Forwarded-For` is trusted; null: none. */
  readonly trustedProxies?: TrustedProxies | null
  readonly telemetry?: Telemetry
  readonly records: RecordStore
  /** Maximum size of a chat request's body. */
  readonly chatBodyBytes: number
  /** Connection counts of the server that uses the handler. */
  readonly connections: HttpServer['connections']
  readonly log: Logger
}

/** The service behind HTTP. */
export interface Transport {
  /** Answers every request, on either server implementation. */
  readonly handler: HttpHandler
  /**
   * Starts the drain: new work is refused, and endless streams and sockets are closed so that clients resume elsewhere.
   */
  beginDrain(): void
}

const isSecure = (publicOrigin: string | null): boolean => publicOrigin?.startsWith('https:') ?? false

const stuckHelp = 'Stuck work of this process that requires a decision (GET /v1/stuck).'
const readyHelp =
  'Whether the process accepts requests: 1, or 0 while the store does not respond or the process is shutting down.'
const maxHelp = 'Maximum number of open client connections: half of the file descriptor limit of the process.'
const refusedHelp = 'Client connections that were closed because the limit was reached.'
const bodyHelp = 'Bytes of large request bodies in progress and of large answers that are not read yet.'
const maxBodyHelp =
  'Maximum of troupe_body_bytes: a sixth of the heap. Further requests wait, and are then refused with 503.'
const lostHelp = 'Gateway calls that were not recorded because the store was unavailable for too long.'

/** Puts the dispatcher, the streams, health, metrics and the console behind one handler. */
export const openTransport = (parts: TransportParts): Transport => {
  const { actors, log, publicOrigin } = parts
  const { tenants } = actors
  const state = openProcessState()
  logReadiness(state, log)
  const metrics = new Metrics()
  const ticker = watchedTicker(actors)
  const streams = new SseStreams(ticker, metrics.streams, log)
  showRuntime(metrics, actors)
  const containment = new Containment(log)
  showConnections(metrics, parts.connections)
  if (parts.telemetry !== undefined) showProduct(metrics, parts.telemetry, parts)
  const health = openHealth({ ...parts, state })
  metrics.gauge('troupe_ready', readyHelp, () => (readinessOf(state) === 'ready' ? 1 : 0))
  const isDraining = (): boolean => readinessOf(state) === 'draining'
  const authenticator = unlessDraining(
    authenticatorOf(actors.auth.credentials, actors.tenants, sessionCookieName(isSecure(publicOrigin))),
    isDraining,
  )
  const endpoints = endpointsOf(servedOperations(parts.chatBodyBytes), actors.useCases)
  const streamLimit = new StreamLimit()
  const bodies = shownBodies(metrics)
  const counters = metrics.streams
  const clientAddress = clientAddressReader(parts.trustedProxies ?? null)
  const common = { endpoints, authenticator, tenants, streamLimit, ticker, bodies, clientAddress, isDraining, log }
  const upgrades = new SessionUpgrades({ ...common, publicOrigin, counters })
  const realtime = new RealtimeUpgrades({ ...common, realtime: actors.gateway.realtime, counters })
  const serve = (...inner: Parameters<HttpHandler['request']>): void => dispatcher.request(...inner)
  const mcp = new McpEndpoint({ authenticator, bodies, clientAddress, publicOrigin, serve, log })
  const { console: files } = parts
  const { oauthClients: clients, auth } = actors
  const oauth = new OAuthEndpoint({ clients, grants: auth.oauthGrants, files, clientAddress, publicOrigin, log })
  const docs = new DocsSite({ folder: parts.docsFolder, operations: Object.values(operations) })
  const shown = { health, metrics, mcp, oauth, docs, files, containment }
  const dispatcher: Dispatcher = new Dispatcher({
    ...common,
    origins: projectOrigins(actors.auth.projects),
    idempotent: actors.idempotent,
    streams,
    publicOrigin,
    telemetry: parts.telemetry,
    observe: (operation, status, ms) => metrics.requests.of(operation).record(status, ms / 1000),
    pages: (request, response, requestId) => page(request, response, { ...shown, requestId }),
    upgrade: (request) => (realtime.takes(request) ? realtime.decide(request) : upgrades.decide(request)),
  })
  return {
    handler: dispatcher,
    beginDrain: () => {
      state.trigger.drain()
      streams.endEndless()
      upgrades.closeAll()
      realtime.closeAll()
    },
  }
}

/** The ticker of the streams, which are checked when a credential has ended. */
const watchedTicker = ({ credentialChanges }: Pick<Actors, 'credentialChanges'>): StreamTicker => {
  const ticker: StreamTicker = new Ticker(wireLimits.tickMs)
  credentialChanges.onChange(() => void forEachInSlices(ticker.members, (stream) => stream.recheck()))
  return ticker
}

const shownBodies = (metrics: Metrics): BodyMemory => {
  const bodies = new BodyMemory()
  metrics.gauge('troupe_body_bytes', bodyHelp, () => bodies.bytes)
  metrics.gauge('troupe_most_body_bytes', maxBodyHelp, () => bodies.max)
  return bodies
}

const showConnections = (metrics: Metrics, connections: TransportParts['connections']): void => {
  metrics.gauge('troupe_open_connections', 'Open client connections.', () => connections.open)
  metrics.gauge('troupe_most_connections', maxHelp, () => connections.max)
  metrics.counter('troupe_connections_refused_total', refusedHelp, () => connections.refused)
}

const showRuntime = (metrics: Metrics, { gateway, runtime: { host } }: Actors): void => {
  metrics.counter('troupe_commits_total', 'Durable commits.', () => host.committed)
  metrics.gauge('troupe_live_actors', 'Actors in memory.', () => host.live)
  metrics.gauge('troupe_running_effects', 'Effects in progress.', () => host.effects.running)
  for (const kind of stuckKinds) {
    metrics.gauge(`troupe_stuck_${kind}`, stuckHelp, () => host.stuck.counts()[kind])
  }
  metrics.counter('troupe_gateway_calls_total', 'Recorded gateway calls.', () => gateway.ledger.counts.taken)
  metrics.counter('troupe_gateway_calls_lost_total', lostHelp, () => gateway.ledger.counts.dropped)
}

const servedOperations = (chatBodyBytes: number): readonly Operation[] =>
  [...Object.values(operations), ...consolePaths(Object.values(operations))].map((operation) => {
    const { chatBodyBytes: max } = operation
    return max === null ? operation : { ...operation, maxBodyBytes: Math.min(max, chatBodyBytes) }
  })

/**
 * During a drain every request except GET is refused with `shutting_down`, so that a load balancer sends it elsewhere.
 */
const unlessDraining = (authenticator: LastingAuthenticator, isDraining: () => boolean): LastingAuthenticator => ({
  ...authenticator,
  authenticate: (request) => {
    if (isDraining() && request.method !== 'GET') throw new ServiceError('shutting_down', { retryAfterS: 1 })
    return authenticator.authenticate(request)
  },
})

interface Pages {
  readonly health: Health
  readonly metrics: Metrics
  readonly mcp: McpEndpoint
  readonly oauth: OAuthEndpoint
  readonly docs: DocsSite
  readonly files: StaticFiles
  readonly containment: Containment
  readonly requestId: string
}

const page = (
  request: HttpRequest,
  given: HttpResponse,
  { health, metrics, mcp, oauth, docs, files, containment, requestId }: Pages,
): boolean => {
  const response = new NamedResponse(given, requestId)
  const fail = (): void => response.fail()
  if (request.path === '/healthz') health.live(response)
  else if (request.path === '/readyz') containment.start('readyz', () => health.ready(response), fail)
  else if (request.path === '/metrics') containment.start('metrics', () => metrics.answer(response), fail)
  else if (mcp.takes(request)) containment.start('mcp', () => mcp.answer(request, response, requestId), fail)
  else if (oauth.takes(request)) containment.start('oauth', () => oauth.answer(request, response, requestId), fail)
  else if (!files.answer(request, response)) {
    if (!docs.takes(request)) return false
    containment.start('docs', () => docs.answer(request, response), fail)
  }
  return true
}
