import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Ticker, tickMsFor } from '#runtime/internal.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { AttemptTimeouts } from './attempt.ts'
import { type CallPolicy, defaultCallPolicy } from './call-policy.ts'
import { type AuthorizeOf, Upstreams } from './upstreams.ts'

/** Dependencies of {openProviderClients}. */
export interface ReachOptions {
  readonly guard: Pick<SsrfGuard, 'dispatcher' | 'check'>
  readonly policy?: Partial<CallPolicy> | undefined
  readonly telemetry?: Telemetry | undefined
  readonly authorizeOf?: AuthorizeOf | undefined
}

/** Connections to providers for requests whose answers are not streamed. */
export interface ProviderClients {
  readonly policy: CallPolicy
  readonly patience: AttemptTimeouts
  readonly upstreams: Upstreams
}

/** Returns the means to reach providers. No connection is opened before the first request. */
export const openProviderClients = ({ guard, policy: own, telemetry, authorizeOf }: ReachOptions): ProviderClients => {
  const policy = { ...defaultCallPolicy, ...own }
  const ticker = new Ticker(tickMsFor(Math.min(policy.firstByteTimeoutMs, policy.idleTimeoutMs, policy.totalTimeoutMs)))
  return {
    policy,
    patience: { ...policy, ticker },
    upstreams: new Upstreams(guard, policy, { telemetry, authorizeOf }),
  }
}
