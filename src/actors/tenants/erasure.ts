import type { Logger } from 'pino'
import { type AnswerStore, answerLane, organizationScope, projectScope, userScope } from '#storage/index.ts'
import { projects } from '../accounts/kinds.ts'
import { isAuditActor } from '../audit/schema.ts'
import type { ErasedOwner } from '../capability/erased-copies.ts'
import { Table } from '../records/table.ts'
import type { EffectCatalog, EffectContext } from '../runtime/index.ts'
import { type EraseParts, eraseActor } from '../runtime/internal.ts'
import { tenants, tenantUsers } from './kinds.ts'
import type { Left, OwnerEraser, OwnerOf } from './owner-eraser.ts'
import type { ProjectEraser } from './project-eraser.ts'

/** Dependencies of the effects of erasures. */
export interface ErasureEffectParts extends EraseParts {
  readonly owned: Pick<OwnerEraser, 'erase'>
  readonly projects: Pick<ProjectEraser, 'erase'>
  readonly answers: Pick<AnswerStore, 'forget'>
  /** Drops what processes keep in memory of erased data. */
  readonly dropped: (erased: ErasedOwner) => Promise<void>
  readonly log: Logger
}

/** The effects of the erasure machine, by `<machine>.<name>`. */
export const erasureEffects = (parts: ErasureEffectParts): EffectCatalog => ({
  'erasure.eraseOwned': {
    policy: 'idempotent',
    run: async ({ round }, context) => {
      const project = projectIn(context)
      const left =
        project === null ? await eraseOwner(parts, context, round) : await eraseProject(parts, context, round)
      return { event: { type: 'round_done', left } }
    },
  },
  'erasure.finishErasure': eraseActor(parts, (context) => removeRow(parts, context)),
})

const eraseOwner = async (
  { owned, answers, dropped, log }: ErasureEffectParts,
  context: EffectContext,
  round: unknown,
): Promise<Left> => {
  const owner = ownerIn(context)
  // nothing says which of a tenant's answers were given to one of its users
  await answers.forget(owner.project, answerLane(owner.tenant))
  const left = await owned.erase(owner)
  await dropped(owner)
  log.info({ tenant: owner.tenant, ofUser: owner.user !== null, round, left }, 'erasure went on')
  return left
}

/** Runs one round of a project's erasure, and stores its progress in the project's row. */
const eraseProject = async (
  { storage, clock, projects: whole, answers, dropped, log }: ErasureEffectParts,
  context: EffectContext,
  round: unknown,
): Promise<Left> => {
  const project = projectIn(context) ?? ''
  await answers.forget(project)
  const left = await whole.erase(project)
  await dropped({ project, tenant: null, user: null })
  log.info({ project, round, left }, 'erasure of a project went on')
  const table = new Table(storage.records, projects, clock.now)
  await table.change(organizationScope(context.owner.project), project, {
    edit: ({ data }) =>
      data.deletion === undefined ? null : { ...data, deletion: { ...data.deletion, rounds: Number(round), left } },
  })
  return left
}

/**
 * Removes the row of the tenant, user or project last: until then it shows the status, and requests are refused because
 * of it.
 */
const removeRow = async ({ storage, clock }: ErasureEffectParts, context: EffectContext): Promise<void> => {
  const { by } = context.context
  if (!isAuditActor(by)) throw new Error('the erasure does not know who asked for it')
  const project = projectIn(context)
  if (project !== null) {
    const table = new Table(storage.records, projects, clock.now)
    await table.remove(organizationScope(context.owner.project), project, ({ id }) => [
      { kind: 'audit', action: 'project.deleted', by, resource: { type: 'project', id } },
    ])
    return
  }
  const { project: within, tenant, user } = ownerIn(context)
  if (user !== null) return removeUser({ storage, clock }, { project: within, tenant, user })
  const table = new Table(storage.records, tenants, clock.now)
  await table.remove(projectScope(within), tenant, ({ id }) => [
    { kind: 'audit', action: 'tenant.deleted', by, resource: { type: 'tenant', id } },
  ])
}

/** After a crash this runs again, when the user may have been created anew. */
const removeUser = async (
  { storage, clock }: Pick<ErasureEffectParts, 'storage' | 'clock'>,
  { project, tenant, user }: { readonly project: string; readonly tenant: string; readonly user: string },
): Promise<void> => {
  const table = new Table(storage.records, tenantUsers, clock.now)
  const scope = userScope(project, tenant, user)
  const row = await table.find(scope, { tenant_id: tenant, external_user_id: user })
  if (row?.data.state === 'forgotten') await table.remove(scope, row.id)
}

const projectIn = ({ context: { project_id } }: EffectContext): string | null =>
  typeof project_id === 'string' ? project_id : null

const ownerIn = ({ owner, context: { tenant_id, user } }: EffectContext): OwnerOf => {
  if (typeof tenant_id !== 'string') throw new Error('the erasure names no tenant')
  return { project: owner.project, tenant: tenant_id, user: typeof user === 'string' ? user : null }
}
