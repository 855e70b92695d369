import type { Scope } from '#specs/scope.ts'
import { Table } from '../records/table.ts'
import { idFloor } from '../runtime/ids.ts'
import { type FailureData, failurePrefix, failureRows } from './failures.ts'
import type { ObservationParts } from './list-actors.ts'

/** Failures of one machine with one code. */
export interface FailureGroup {
  readonly machine: string
  readonly code: string
  /** Of the newest. */
  readonly message: string
  readonly newest: string
  readonly tenant: string | null
  /** ms since the epoch. */
  readonly at: number
  readonly count: number
}

const dayMs = 24 * 60 * 60 * 1000

/** The newest failures that are counted. */
export const mostFailures = 1_000

/** What failed in the last 24 hours, by machine and code, the newest group first; of the newest `mostFailures`. */
export const recentFailures = async (
  { records, now }: Pick<ObservationParts, 'records' | 'now'>,
  scope: Scope,
): Promise<readonly FailureGroup[]> => {
  const rows = await new Table<FailureData>(records, failureRows, now).list(scope, { limit: mostFailures })
  const floor = idFloor(failurePrefix, now() - dayMs)
  const groups = Map.groupBy(
    rows.filter(({ id }) => id > floor),
    ({ data }) => `${data.machine} ${data.code}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [newest] = group
    if (newest === undefined) return []
    const { machine, code, message, actor } = newest.data
    const { tenant, created_at: at } = newest
    return [{ machine, code, message, newest: actor, tenant, at, count: group.length }]
  })
}
