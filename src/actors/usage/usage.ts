import { ratePlans } from '../../../specs/resources/rate-plans.ts'
import { usage as usageOperations } from '../../../specs/resources/usage.ts'
import { capability } from '../capability/capability.ts'
import { usageKinds } from './kinds.ts'
import { ratePlanUseCases } from './rate-plan-use-cases.ts'
import { usageLedger } from './usage-ledger.ts'
import { usageUseCases } from './usage-use-cases.ts'

/** What tenants used, and what they are charged for it. */
export const usage = capability({
  name: 'usage',
  operations: { ...usageOperations, ...ratePlans },
  kinds: usageKinds,
  ledger: usageLedger,
  open: (house) => ({ useCases: { ...usageUseCases(house), ...ratePlanUseCases(house) } }),
})
