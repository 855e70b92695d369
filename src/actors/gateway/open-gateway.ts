import type { Logger } from 'pino'
import { ServiceError } from '../../../specs/errors.ts'
import type { RateLimits } from '../../storage/cluster-ports.ts'
import type { RecordStore } from '../../storage/ports.ts'
import type { SecretBox } from '../auth/project-directory.ts'
import type { Clock } from '../runtime/clock.ts'
import type { SsrfGuard } from '../tools/ssrf-guard.ts'
import { type Admission, openAdmission } from './calls/admission.ts'
import type { CallLedger } from './calls/call-ledger.ts'
import type { Redaction } from './calls/redaction.ts'
import type { Routes } from './calls/routes.ts'
import type { Providers } from './providers.ts'

/** What the gateway stands on. */
export interface GatewayParts {
  readonly records: RecordStore
  readonly box: SecretBox
  readonly guard: SsrfGuard
  readonly providers: Providers
  readonly limits: RateLimits
  readonly clock: Clock
  readonly log: Logger
}

/** What every request of the gateway goes by, whatever its form. */
export interface GatewayCore {
  readonly routes: Routes
  readonly admission: Admission
  readonly ledger: CallLedger
  readonly redaction: Redaction
}

/** The gateway, put together. */
export interface Gateway extends GatewayCore {
  readonly useCases: Record<never, never>
  /** What was taken is durable, connections are ended. */
  close(): Promise<void>
}

/** Puts the gateway's parts together: whoever adds a part adds its line here. */
export const openGateway = (_parts: GatewayParts): Gateway => {
  const core: GatewayCore = {
    routes: noRoutes,
    admission: openAdmission,
    ledger: forgetful,
    redaction: untouched,
  }
  return {
    ...core,
    useCases: {},
    close: () => core.ledger.flush(),
  }
}

const noRoutes: Routes = {
  resolve: () => {
    throw new ServiceError('provider_not_configured', { param: 'model' })
  },
}

const forgetful: CallLedger = { record: () => {}, flush: () => Promise.resolve() }

const untouched: Redaction = { policyOf: () => null, forLog: () => '' }
