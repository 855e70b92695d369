import { audit as operations } from '#specs/resources/audit.ts'
import { capability } from '../capability/capability.ts'
import { auditSink } from '../runtime/internal.ts'
import { auditLines } from './audit-log.ts'
import { auditLogUseCases } from './audit-use-cases.ts'
import { auditLog } from './kinds.ts'

/** Capability `audit`: the log of who did what, when and from where. */
export const audit = capability({
  name: 'audit',
  operations,
  kinds: [auditLog],
  open: (services) => ({
    useCases: auditLogUseCases(services),
    sinks: { [auditSink]: auditLines(services.records) },
  }),
})
