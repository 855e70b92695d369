import type { Logger } from 'pino'
import { projectScope } from '#specs/scope.ts'
import { isAuditActor } from '../audit/schema.ts'
import { Table } from '../records/table.ts'
import type { EffectCatalog, EffectContext } from '../runtime/effects/effects.ts'
import { type EraseParts, eraseActor } from '../runtime/erasure/erase-actor.ts'
import { tenants } from './kinds.ts'
import type { Owned, OwnerOf } from './owned.ts'

/** What the effects of an erasure need. */
export interface ErasureEffectParts extends EraseParts {
  readonly owned: Owned
  readonly log: Logger
}

/** The effects of the erasure machine, by `<machine>.<name>`. */
export const erasureEffects = (parts: ErasureEffectParts): EffectCatalog => ({
  'erasure.eraseOwned': {
    policy: 'idempotent',
    run: async ({ round }, context) => {
      const owner = ownerIn(context)
      const left = await parts.owned.erase(owner)
      parts.log.info({ tenant: owner.tenant, ofUser: owner.user !== null, round, left }, 'erasure went on')
      return { event: { type: 'round_done', left } }
    },
  },
  'erasure.finishErasure': eraseActor(parts, (context) => removeRow(parts, context)),
})

/** The tenant's own row goes last: until then it says what is going on, and refuses. */
const removeRow = async ({ storage, clock }: ErasureEffectParts, context: EffectContext): Promise<void> => {
  const { project, tenant, user } = ownerIn(context)
  if (user !== null) return
  const { by } = context.context
  if (!isAuditActor(by)) throw new Error('the erasure does not know who asked for it')
  const table = new Table(storage.records, tenants, clock.now)
  await table.remove(projectScope(project), tenant, ({ id }) => [
    { kind: 'audit', action: 'tenant.deleted', by, resource: { type: 'tenant', id } },
  ])
}

const ownerIn = ({ owner, context: { tenant_id, user } }: EffectContext): OwnerOf => {
  if (typeof tenant_id !== 'string') throw new Error('the erasure names no tenant')
  return { project: owner.project, tenant: tenant_id, user: typeof user === 'string' ? user : null }
}
