import type { Scope } from '#storage/index.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { idFloor } from '../runtime/internal.ts'
import { type FailureData, failurePrefix, failureRows } from './failures.ts'
import type { ObservationParts } from './list-actors.ts'

/** Failures of one tool, or of one machine with the same error code. */
export interface FailureGroup {
  readonly machine: string
  readonly code: string
  readonly tool: string | null
  /** Message of the newest failure; `newest` is the id of its actor. */
  readonly message: string
  readonly newest: string
  readonly tenant: string | null
  /** Time of the newest failure, in ms since the epoch. */
  readonly at: number
  readonly count: number
}

const dayMs = 24 * 60 * 60 * 1000

/** Most failures that are counted; newer failures come first. */
const maxFailures = 1_000

/** The failures of the last 24 hours, newest first, at most `maxFailures`. */
export const newestFailures = async (
  { records, now }: Pick<ObservationParts, 'records' | 'now'>,
  scope: Scope,
): Promise<readonly Row<FailureData>[]> => {
  const rows = await new Table<FailureData>(records, failureRows, now).list(scope, { limit: maxFailures })
  const floor = idFloor(failurePrefix, now() - dayMs)
  return rows.filter(({ id }) => id > floor)
}

/** Number of steps from one state to another. */
interface EdgeCount {
  readonly from: string
  readonly to: string
  readonly count: number
}

/**
 * Failures of the last 24 hours by machine: their number, and the edges on which they occurred, most frequent first.
 */
export const failuresByMachine = async (
  parts: Pick<ObservationParts, 'records' | 'now'>,
  scope: Scope,
): Promise<ReadonlyMap<string, { readonly count: number; readonly edges: readonly EdgeCount[] }>> => {
  const machines = Map.groupBy(await newestFailures(parts, scope), ({ data }) => data.machine)
  return new Map(
    [...machines].map(([machine, rows]) => [
      machine,
      { count: rows.length, edges: edgeCounts(rows.flatMap(({ data: { moved } }) => (moved ? [moved] : []))) },
    ]),
  )
}

/** Counts steps by their states, most frequent first; the first step of an actor has no state before it. */
export const edgeCounts = (moves: readonly (readonly [string | null, string])[]): readonly EdgeCount[] => {
  const edges = new Map<string, EdgeCount>()
  for (const [from, to] of moves) {
    if (from === null) continue
    const key = `${from} ${to}`
    edges.set(key, { from, to, count: (edges.get(key)?.count ?? 0) + 1 })
  }
  return [...edges.values()].sort((a, b) => b.count - a.count)
}

/**
 * Failures of the last 24 hours by tool, or by machine and code, the group with the newest failure first; at most `maxFailures`
 * are counted.
 */
export const recentFailures = async (
  parts: Pick<ObservationParts, 'records' | 'now'>,
  scope: Scope,
): Promise<readonly FailureGroup[]> => {
  const groups = Map.groupBy(
    await newestFailures(parts, scope),
    ({ data }) => data.tool ?? `${data.machine} ${data.code}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [newest] = group
    if (newest === undefined) return []
    const { machine, code, message, actor, tool = null } = newest.data
    const { tenant, created_at: at } = newest
    return [{ machine, code, tool, message, newest: actor, tenant, at, count: group.length }]
  })
}
