import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { Audited } from '#records/audited.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { defaultThreshold } from '#specs/resources/gateway/cache-policy.ts'
import { projectScope } from '#storage/index.ts'
import type { CachePolicy } from '../call/reuse.ts'
import { LogSettings } from '../ledger/log-settings.ts'
import { type CachePolicyData, cachePolicies } from './kinds.ts'

/** Policy of a project that never changed it. */
const defaultPolicy: CachePolicyData = {
  mode: 'off',
  ttl_s: 3_600,
  threshold: defaultThreshold,
  any_temperature: false,
}

const dayMs = 24 * 60 * 60_000

/** Reads the cache policy in effect. */
export const cachePolicyReader = ({ records, now }: Pick<Services, 'records' | 'now'>) => {
  const table = new Table(records, cachePolicies, now)
  const log = new LogSettings(records, now)
  /** Returns null for a project that stores no answers; no text is kept for longer than in the request log. */
  return async (project: string): Promise<CachePolicy | null> => {
    const row = await table.get(projectScope(project), policyIdOf(project))
    if (row === null || row.data.mode === 'off') return null
    const { mode: bodies, retention_days } = await log.read(project)
    if (bodies !== 'bodies') return null
    const { mode, ttl_s, threshold, any_temperature: anyTemperature } = row.data
    return { mode, ttlMs: Math.min(ttl_s * 1000, retention_days * dayMs), threshold, anyTemperature }
  }
}

/** ms after which no node stores answers by an earlier policy. */
const settledMs = 2_000

interface StopParts extends Pick<Services, 'answers' | 'clock'> {
  /** Called with a project whose policy has changed. */
  readonly changed: (project: string) => void
}

/** Applies the policy of a project, or the settings of its log, that were changed. */
export const cacheSwitch = ({ answers, clock, changed }: StopParts) => ({
  /** @param stores whether answers may be stored from now on; if not, those that are stored are deleted. */
  apply: async (project: string, stores: boolean): Promise<void> => {
    changed(project)
    if (stores) return
    await answers.forget(project)
    // another node may have stored one since
    clock.after(settledMs, () => void answers.forget(project))
  },
})

interface PolicyParts extends Pick<Services, 'now' | 'records'> {
  readonly answers: ReturnType<typeof cacheSwitch>
}

/** Use-cases that read and change which answers a project reuses. */
export const cachePolicyUseCases = ({ records, answers, now }: PolicyParts): UseCasesOf<'cache_policy'> => {
  const table = new Table(records, cachePolicies, now)
  return {
    'cache_policy.get': async ({ scope: { project } }) =>
      view(await table.get(projectScope(project), policyIdOf(project))),
    'cache_policy.update': async (call) => {
      const { project } = call.scope
      const id = policyIdOf(project)
      await table.insert({ id, project, data: defaultPolicy })
      const change = {
        edit: ({ data }: Row<CachePolicyData>) => ({ ...data, ...call.body }),
        notices: new Audited(call, 'cache_policy').changed<CachePolicyData>(),
      }
      const row = await table.change(projectScope(project), id, change)
      await answers.apply(project, row !== null && row.data.mode !== 'off')
      if (row === null) throw new ServiceError('version_conflict')
      return view(row)
    },
  }
}

const policyIdOf = (project: string): string => `chp_${project.slice(project.indexOf('_') + 1)}`

const view = (row: Row<CachePolicyData> | null): ResultOf<'cache_policy.get'> => ({
  ...(row?.data ?? defaultPolicy),
  updated_at: row === null ? null : timestampOf(row.updated_at),
})
