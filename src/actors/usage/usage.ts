import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { usage as usageOperations } from '#specs/resources/usage.ts'
import { capability } from '../capability/capability.ts'
import { usageLedger } from './usage-ledger.ts'
import { usageUseCases } from './usage-use-cases.ts'

/** Capability `usage`: the usage of tenants, and their charges. */
export const usage = capability({
  name: 'usage',
  operations: usageOperations,
  kinds: [usageRows],
  ledger: usageLedger,
  open: (services) => ({ useCases: usageUseCases(services) }),
})
