import type { AdmissionRequest } from '#gateway/call/admission.ts'
import { ledgerKinds } from '#gateway/ledger/kinds.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { type LimitData, limitKinds, limits, subjectKey } from '#gateway/limits/kinds.ts'
import { LimitAdmission } from '#gateway/limits/limit-admission.ts'
import { LimitCache } from '#gateway/limits/limit-cache.ts'
import { Table } from '#records/table.ts'
import type { Clock } from '#runtime/clock.ts'
import { newId } from '#runtime/ids.ts'
import type { RateLimits } from '#storage/cluster-ports.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { callerOf, project } from '../ledger/calls.ts'

export const organization = 'org_00000000000000000000000001'

const projects = { settings: () => ({ organization, name: 'p', allowedOrigins: [], redactsByDefault: true }) }

/** The admission of one process over a store; call it again with the same store for a further process. */
export const openLimited = async (
  records: RecordStore,
  clock: Clock,
  options: { readonly limits?: RateLimits; readonly holdMs?: number } = {},
) => {
  await records.prepare([...limitKinds, ...ledgerKinds, usageRows])
  const book = new LimitCache({ records, projects, now: clock.now })
  const { limits = new LocalLimits(clock), ...others } = options
  return { book, admission: new LimitAdmission({ records, book, limits, clock, ...others }) }
}

/** Stores a limit. */
export const limit = async (records: RecordStore, clock: Clock, data: Partial<LimitData>): Promise<string> => {
  const { subject = 'project', subject_id = null } = data
  const full: LimitData = {
    subject,
    subject_id,
    subject_key: subjectKey(subject, subject_id),
    requests_per_minute: null,
    tokens_per_minute: null,
    budget_day_usd: null,
    budget_month_usd: null,
    budget_total_usd: null,
    ...data,
  }
  const id = newId('lim')
  const tenant = subject === 'tenant' ? subject_id : null
  await new Table(records, limits, clock.now).insert({ id, project, tenant, data: full })
  return id
}

/** A chat call with a managed key and a maximum cost of one dollar. */
export const requestOf = (more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  caller: callerOf(),
  need: 'chat',
  model: 'gpt-4o-mini',
  source: 'managed',
  maxUsd: () => '1',
  ...more,
})

export const scope = projectScope(project)
