import type { Duplex } from 'node:stream'
import type { CallEnd } from '#gateway/call/accounting/call-record.ts'
import { routeCost } from '#gateway/call/accounting/route-price.ts'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { CallRunParts } from '#gateway/call/call-run.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { Candidate } from '#gateway/call/candidates.ts'
import {
  AttemptFailed,
  cancelled,
  refused,
  refusedAddress,
  statusFailure,
  timedOut,
  unreachable,
} from '#gateway/call/failure.ts'
import { firstAnswer } from '#gateway/call/first-answer.ts'
import { onwardAfter } from '#gateway/call/onward.ts'
import type { RouteHealth } from '#gateway/call/pools/route-health.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { policyFor } from '#gateway/call/provider-timeouts.ts'
import { refusalOf, statusOf } from '#gateway/call/refusal.ts'
import { RouteCandidates } from '#gateway/call/route-candidates.ts'
import { type Route, type Routes, wireModelOf } from '#gateway/call/routes.ts'
import { reachable, type Upstreams } from '#gateway/call/upstreams.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { viaOf } from '#outgoing/via.ts'
import { openWebSocket, UpgradeRefused, UpgradeTimedOut } from '#outgoing/websocket/open-websocket.ts'
import { realtimeOperation } from './response-charges.ts'

export interface ProviderSocketParts extends CallRunParts {
  readonly routes: Routes
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly health: RouteHealth
}

export interface ProviderSocketRequest {
  readonly caller: Caller
  readonly model: string
  readonly signal: AbortSignal
}

/** A connection to a provider that speaks the Realtime API, and the route that it took. */
export interface ProviderSocket {
  readonly socket: Duplex
  readonly route: Route
}

/** Longest time in ms for a provider's upgrade. */
const upgradeMaxMs = 15_000

/**
 * Connects to a provider of the model: admission, pools, retries and other routes as for any call.
 *
 * @throws {ServiceError} of the last attempt, or of the admission; the call has been recorded.
 */
export const connectProvider = async (
  parts: ProviderSocketParts,
  { caller, model, signal }: ProviderSocketRequest,
): Promise<ProviderSocket> => {
  const candidates = new RouteCandidates(parts, { project: caller.project, need: 'chat', models: [model] })
  const { run, candidate, answer } = await firstAnswer<Candidate, Duplex>(
    parts,
    {
      ...{ caller, model, signal, operation: realtimeOperation, need: 'chat', streamed: true },
      maxUsd: ({ route }) => routeCost(route, shortest),
      sharesTicket: () => true,
      answer: async ({ route }, { record }) => {
        record.attempts++
        const socket = await upgraded(parts, route, { caller, model, signal })
        record.begun()
        return socket
      },
      discard: (socket) => socket.destroy(),
      onward: onwardAfter,
      refusalOf,
      end: connectionEnd,
    },
    candidates,
  )
  run.succeed()
  return { socket: answer, route: candidate.route }
}

/** A connection costs nothing, but opens only where a short answer could be paid. */
const shortest = { tokens: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 } }

const connectionEnd = (error: Error | null): CallEnd => ({
  usage: null,
  costUsd: '0',
  status: error === null ? 101 : statusOf(error),
  bodies: () => ({ request: '', response: '' }),
})

const upgraded = async (
  { upstreams, policy }: Pick<ProviderSocketParts, 'upstreams' | 'policy'>,
  route: Route,
  { caller, signal }: ProviderSocketRequest,
): Promise<Duplex> => {
  const format = providerFormats[route.format]
  if (format.realtime === undefined) throw noRealtime()
  const { dispatcher, origin, basePath, authorization } = reachable(upstreams, route)
  const path = basePath + format.realtime.path(wireModelOf(route))
  const { firstByteTimeoutMs } = policyFor<CallPolicy>(policy, route.waits, caller.timeoutMs)
  try {
    const signed = await authorization({ method: 'GET', url: new URL(origin + path), body: '' })
    const headers = { ...format.headers(route), ...signed, via: viaOf(caller) }
    const timeoutMs = Math.min(firstByteTimeoutMs, upgradeMaxMs)
    return await openWebSocket({ dispatcher, origin, path, headers, timeoutMs, signal })
  } catch (error) {
    throw failureOf(error, signal)
  }
}

const noRealtime = (): AttemptFailed =>
  refused(new ModelError('model_not_found', 'The provider of this model has no realtime sessions.'))

const failureOf = (error: unknown, signal: AbortSignal): AttemptFailed => {
  if (error instanceof AttemptFailed) return error
  if (signal.aborted) return cancelled()
  if (error instanceof SsrfRefused) return refusedAddress()
  if (error instanceof UpgradeTimedOut) return timedOut('answer')
  if (!(error instanceof UpgradeRefused)) return unreachable()
  const { status, body, retryAfter } = error
  // a server that does not know the upgrade answers its path with a document
  return status < 300 ? noRealtime() : statusFailure({ status, body, retryAfter }, Date.now())
}
