import type { ProjectDirectory } from '../actors/accounts/project-directory.ts'
import type { Clock } from '../actors/runtime/index.ts'
import type { SsrfGuard } from '../outgoing/ssrf-guard.ts'
import type { FanOut, RateLimits, RecordStore } from '../storage/index.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ResponseCache } from './caching/response-cache.ts'
import type { ModelTimeouts } from './call/call-policy.ts'
import type { GatewayCore } from './call/gateway-core.ts'
import type { Redaction } from './call/redaction.ts'
import type { Routes } from './call/routes.ts'
import { type OpenChats, openChats } from './chat/open-chats.ts'
import type { Guardrails } from './guardrails/stored-guardrails.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import type { LoggedAnswers } from './ledger/request-log-use-cases.ts'
import type { LimitSubjects } from './limits/limit-use-cases.ts'
import { withModelReach } from './limits/model-reach.ts'
import { type Metering, openMetering } from './open-metering.ts'
import { GatewayTurns, type TurnModels } from './turns/turn-models.ts'

export interface CoreParts {
  readonly records: RecordStore
  readonly guard: SsrfGuard
  readonly routes: Routes
  readonly redaction: Redaction
  readonly ledger: RequestLedger
  readonly limits: RateLimits
  readonly answers: LoggedAnswers
  readonly cache: ResponseCache
  readonly guardrails?: Guardrails | undefined
  readonly projects: Pick<ProjectDirectory, 'settings'>
  /** Checks the subjects for which limits are set. */
  readonly subjects: LimitSubjects
  /** Notifies other nodes of changes; absent for a single process. */
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
  readonly telemetry?: Telemetry | undefined
  /** Overrides of `defaultCallPolicy`. */
  readonly policy?: Partial<ModelTimeouts>
  readonly clock: Clock
}

/** The core of the gateway: what turns, runs and requests use to call models. */
export interface OpenCore extends GatewayCore, OpenChats {
  /** Answers that are reused. */
  readonly cache: ResponseCache
  readonly guardrails: Guardrails | undefined
  readonly ledger: RequestLedger
  readonly metering: Metering
  /** Model calls of turns and runs. */
  readonly turns: TurnModels
}

/**
 * Opens the core, which the runtime requires before it resumes turns and runs after a crash. No connection is opened.
 */
export const openCore = (parts: CoreParts): OpenCore => {
  const { guard, routes, redaction, ledger, cache, guardrails, clock, telemetry, policy = {} } = parts
  const metering = openMetering(parts)
  const admission = withModelReach(metering.admission)
  const core = { routes, admission, ledger, redaction, cache, guardrails, telemetry }
  const opened = openChats({ ...core, guard, policy, now: clock.now })
  return { ...core, ...opened, metering, turns: new GatewayTurns({ ...opened, guardrails }) }
}
