import type { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import { textOf } from '../prices/money.ts'
import { currentCounter, freshCounter, heldByOthers } from './counter.ts'
import { creditsOf } from './grant-credits.ts'
import { budgetCounters, type LimitData, limits, subjectKey } from './kinds.ts'
import { counterId } from './limit-admission.ts'
import type { LimitCache } from './limit-cache.ts'

/** The tenants and keys of a project for which limits can be set. */
export interface LimitSubjects {
  /** Returns the status of a tenant; null when the project does not have it. */
  tenantStatus(project: string, id: string): Promise<string | null>
  hasKey(project: string, id: string): Promise<boolean>
}

/** Dependencies of the operations on limits. */
export interface LimitParts extends Pick<Services, 'now' | 'records'> {
  readonly book: LimitCache
  readonly projects: Pick<ProjectDirectory, 'settings'>
  readonly subjects: LimitSubjects
}

type LimitView = ResultOf<'limits.get'>

const idPrefix = 'lim'

/** Use-cases of rate limits, budgets and credits, with what is spent of them. */
export const limitUseCases = ({
  records,
  book,
  projects,
  subjects,
  now,
}: LimitParts): UseCasesOf<'limits' | 'credits'> => {
  const table = new Table(records, limits, now)
  const counters = new Table(records, budgetCounters, now)
  const resource = new RecordResource({ table, idPrefix, view: (row) => row, uniqueField: 'subject_id' })
  const view = async (row: Row<LimitData>): Promise<LimitView> => {
    const { subject_key: _key, ...data } = row.data
    return { id: row.id, ...data, ...(await spentOf(row)), ...rowTimes(row) }
  }
  const spentOf = async ({ id, project, data }: Row<LimitData>) => {
    if (!hasBudget(data)) return nothingSpent
    const stored = await counters.get(projectScope(project), counterId(id))
    const counter = currentCounter(stored?.data ?? freshCounter(now()), now())
    const { day_usd: spent_day_usd, month_usd: spent_month_usd, total_usd: spent_total_usd } = counter
    return { spent_day_usd, spent_month_usd, spent_total_usd, reserved_usd: textOf(heldByOthers(counter, '')) }
  }
  return {
    'limits.list': async ({ scope, query: { limit, cursor, subject, subject_id } }) => {
      const where = subject_id !== undefined ? { subject_id } : subject !== undefined ? { subject } : {}
      const page = await resource.list(scope, { limit, cursor, where })
      const matching = page.data.filter(({ data }) => subject === undefined || data.subject === subject)
      return { data: await Promise.all(matching.map(view)), next_cursor: page.next_cursor }
    },
    'limits.create': async (call) => {
      const { scope, body } = call
      const data = dataOf(body)
      await checkSubject(subjects, scope.project, data)
      const id = newIdFor(call, idPrefix)
      const audited = new Audited(call, 'limit')
      const tenant = data.subject === 'tenant' ? data.subject_id : null
      const row = { id, project: scope.project, tenant, data, notices: [audited.line('created', id)] }
      const key = { subject_key: data.subject_key }
      const made = await resource.upsert(scope, key, { row, edit: () => data, notices: audited.changed() })
      book.changed(scope.project)
      return view(made)
    },
    'limits.get': async ({ scope, params }) => view(await resource.get(scope, params.limit_id)),
    'limits.delete': async (call) => {
      const { scope } = call
      const { limit_id } = call.params
      const gone = await resource.remove(scope, limit_id, new Audited(call, 'limit').removed())
      await counters.remove(scope, counterId(limit_id))
      book.changed(scope.project)
      return gone
    },
    'credits.get': async ({ scope }) => {
      const organization = orNotFound((await projects.settings(scope.project))?.organization)
      const account = await creditsOf(records, now, organization)
      if (account === null) return { organization_id: organization, gated: false, ...noCredits }
      const { granted, spent, balance } = account
      return {
        organization_id: organization,
        gated: true,
        granted_usd: granted,
        spent_usd: spent,
        balance_usd: balance,
      }
    },
  }
}

const noCredits = { granted_usd: null, spent_usd: null, balance_usd: null } as const

const nothingSpent = { spent_day_usd: null, spent_month_usd: null, spent_total_usd: null, reserved_usd: null } as const

const hasBudget = ({ budget_day_usd, budget_month_usd, budget_total_usd }: LimitData): boolean =>
  budget_day_usd !== null || budget_month_usd !== null || budget_total_usd !== null

const dataOf = (body: BodyOf<'limits.create'>): LimitData => {
  const { subject, subject_id = null } = body
  if (subject === 'project' && subject_id !== null) {
    throw invalidField('subject_id', 'A limit of the project must not have a subject_id.')
  }
  if (subject !== 'project' && subject_id === null) throw new ServiceError('missing_field', { param: 'subject_id' })
  return {
    subject,
    subject_id,
    subject_key: subjectKey(subject, subject_id),
    requests_per_minute: body.requests_per_minute ?? null,
    tokens_per_minute: body.tokens_per_minute ?? null,
    budget_day_usd: body.budget_day_usd ?? null,
    budget_month_usd: body.budget_month_usd ?? null,
    budget_total_usd: body.budget_total_usd ?? null,
  }
}

/**
 * @throws {ServiceError} `not_found` for a tenant or a key that the project does not have; `tenant_deleting`. A limit of
 * a suspended tenant may be set, as its other settings may (`tenants.update`).
 */
const checkSubject = async (
  subjects: LimitSubjects,
  project: string,
  { subject, subject_id }: LimitData,
): Promise<void> => {
  if (subject_id === null) return
  const status = subject === 'tenant' ? await subjects.tenantStatus(project, subject_id) : null
  if (status === 'deleting') throw new ServiceError('tenant_deleting')
  const found = subject === 'tenant' ? status !== null : await subjects.hasKey(project, subject_id)
  if (!found) throw new ServiceError('not_found', { param: 'subject_id' })
}
