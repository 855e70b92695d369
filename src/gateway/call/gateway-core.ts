import type { Telemetry } from '#telemetry/telemetry.ts'
import type { CallLedger } from './accounting/call-ledger.ts'
import type { Admission } from './admission.ts'
import type { Redaction } from './redaction.ts'
import type { Routes } from './routes.ts'

/** What every request of the gateway goes by, whatever its form. */
export interface GatewayCore {
  readonly routes: Routes
  readonly admission: Admission
  readonly ledger: CallLedger
  readonly redaction: Redaction
  /** Measures and traces calls; absent: not observed. */
  readonly telemetry?: Telemetry | undefined
}
