import { firstSequence } from './pieces.ts'
import type { LogEvent } from './ports.ts'

/** A commit of an effect's part, with the fields that merging needs. */
export interface PartRow {
  readonly seq: number
  /** ms since the epoch. */
  readonly at: number
  readonly cause: string
  /** JSON of its log events. */
  readonly events: string
  readonly open: boolean
  readonly due: number | null
}

/**
 * One commit that takes over the log events of others. Each is changed or removed only while its events are those that
 * were read.
 */
export interface Merge {
  readonly into: Pick<PartRow, 'seq' | 'events'>
  /** JSON of the events of `into` after the merge; null if it carries those of the others already. */
  readonly events: string | null
  /**
   * Commits to remove, the last first, in this order: a reader that has seen only some of the first finds the rest in
   * `into`.
   */
  readonly parts: readonly Pick<PartRow, 'seq' | 'events'>[]
}

/** Maximum length of a merged commit's events as JSON, in UTF-16 units, unless those of a single commit are longer. */
const mergedLength = 64 * 1024

/** Maximum number of commits processed in one call: an embedded store answers no other caller meanwhile. */
export const mergedAtOnce = 250

/** The commits among `rows` that are the effect's parts; their causes are its id, `#` and a number. */
export const partsOf = <Row extends Pick<PartRow, 'cause'>>(rows: readonly Row[], effect: string): readonly Row[] =>
  rows.filter(({ cause }) => cause.startsWith(`${effect}#`) && /^\d+$/.test(cause.slice(effect.length + 1)))

/** The commit that ended the effect, if it is among these. */
export const endOf = (rows: readonly PartRow[], before: number): PartRow | undefined =>
  rows.findLast(({ seq }) => seq === before)

/** Whether only the events of the commit are still needed. */
export const isSettled = ({ open, due }: Pick<PartRow, 'open' | 'due'>): boolean => !open && due === null

interface Taken {
  readonly row: PartRow
  readonly events: readonly LogEvent[]
  /** Earlier commits whose events this one already contains, because a process died before it removed them. */
  readonly covered: PartRow[]
}

/**
 * Plans how the events of consecutive commits are merged: into the last commit of a group, whose position in the log
 * stays, each event with the time of its original commit.
 *
 * @param rows in the order of `seq`
 * @param options `end` is the commit that ended the effect: parts whose events it carries are only removed
 */
export const mergesOf = (
  rows: readonly PartRow[],
  { end, maxLength = mergedLength }: { readonly end?: PartRow | undefined; readonly maxLength?: number } = {},
): readonly Merge[] => {
  const from = end === undefined ? Number.POSITIVE_INFINITY : firstOf(JSON.parse(end.events))
  const isCovered = ({ events }: PartRow): boolean => firstOf(JSON.parse(events)) >= from
  const covered = rows.filter(isCovered).toReversed()
  const merges = groupsOf(takenOf(rows.slice(0, rows.length - covered.length)), maxLength).flatMap(mergeOf)
  return end === undefined || covered.length === 0 ? merges : [{ into: end, events: null, parts: covered }, ...merges]
}

const mergeOf = (group: readonly Taken[]): readonly Merge[] => {
  const into = group.at(-1)
  const parts = [...group.slice(0, -1).map(({ row }) => row), ...group.flatMap(({ covered }) => covered)]
  if (into === undefined || parts.length === 0) return []
  return [{ into: into.row, events: textOf(group), parts: parts.sort((a, b) => b.seq - a.seq) }]
}

const takenOf = (rows: readonly PartRow[]): readonly Taken[] => {
  const taken: Taken[] = []
  for (const row of rows.toReversed()) {
    const events: readonly LogEvent[] = JSON.parse(row.events)
    const later = taken.at(-1)
    if (later !== undefined && firstOf(events) >= firstOf(later.events)) later.covered.push(row)
    else taken.push({ row, events, covered: [] })
  }
  return taken.toReversed()
}

const firstOf = ([first]: readonly LogEvent[]): number => (first === undefined ? 0 : firstSequence(first))

const groupsOf = (taken: readonly Taken[], maxLength: number): readonly (readonly Taken[])[] => {
  const groups: Taken[][] = []
  let length = 0
  for (const each of taken) {
    const group = groups.at(-1)
    length += each.row.events.length
    if (group !== undefined && length <= maxLength && follows(group.at(-1), each)) group.push(each)
    else {
      groups.push([each])
      length = each.row.events.length
    }
  }
  return groups
}

/** Whether no other event lies in between: events of one commit are in order, and so are commits. */
const follows = (before: Taken | undefined, { events }: Taken): boolean =>
  before?.events.at(-1)?.sequence === firstOf(events) - 1

const textOf = (group: readonly Taken[]): string => {
  const [only, ...others] = group
  if (only === undefined || others.length === 0) return only?.row.events ?? '[]'
  return JSON.stringify(group.flatMap(({ row, events }) => events.map((event) => ({ at: row.at, ...event }))))
}
