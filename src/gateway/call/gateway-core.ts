import type { Telemetry } from '#telemetry/telemetry.ts'
import type { CallLedger } from './accounting/call-ledger.ts'
import type { Admission } from './admission.ts'
import type { Redaction } from './redaction.ts'
import type { Routes } from './routes.ts'

/** Services that every request of the gateway uses, whatever its API. */
export interface GatewayCore {
  readonly routes: Routes
  readonly admission: Admission
  readonly ledger: CallLedger
  readonly redaction: Redaction
  /** Metrics and traces of calls; absent: none. */
  readonly telemetry?: Telemetry | undefined
}
