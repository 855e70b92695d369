import type { Services } from '#actors/capability/services.ts'
import { boundRecords } from '#records/bound-records.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { timeOfId } from '#runtime/index.ts'
import { idFloor, within } from '#runtime/internal.ts'
import {
  covers,
  type RecordKind,
  type RecordQuery,
  type RecordStore,
  type Scope,
  type StoredRecord,
} from '#storage/index.ts'
import { callSegments, requestLog, type SegmentData, segmentPrefix, segmentScope, segmentSpanMs } from './kinds.ts'
import type { SegmentExpander } from './segment-expander.ts'
import { type CallPlace, logLineOf, placesIn, usageRowOf } from './segment-rows.ts'
import { usageRows } from './usage-rows.ts'

/** Number of segments read at once. */
const pageSize = 4
/** Maximum time in ms that a request waits for the calls of this process to be durable. */
const patienceMs = 2_000

export interface LedgerRecordsParts extends Pick<Services, 'clock' | 'records'> {
  /** Resolves when everything recorded so far is durable. */
  readonly flush: () => Promise<void>
  readonly expander: Pick<SegmentExpander, 'all'>
}

/**
 * Wraps the store for readers of usage and the request log, so that they also see calls whose rows have not been
 * derived from segments yet. A list reads the segments of its time range in addition to the table, so it stays cheap
 * however many are waiting. Other operations on these two kinds first derive the rows of all segments, as the removal
 * of a tenant requires.
 */
export const ledgerRecords = (parts: LedgerRecordsParts): RecordStore => {
  const { records, expander } = parts
  const flushed = () => within(parts.clock, patienceMs, parts.flush())
  const expanded = async (kind: RecordKind): Promise<void> => {
    if (!isLedgers(kind)) return
    await flushed()
    await expander.all()
  }
  return {
    ...boundRecords(records),
    list: async (kind, scope, query) => {
      if (!isLedgers(kind)) return records.list(kind, scope, query)
      await flushed()
      return new OverlaidList(parts, kind, scope).read(query)
    },
    get: (kind, scope, id) => after(expanded(kind), () => records.get(kind, scope, id)),
    getMany: (kind, scope, ids) => after(expanded(kind), () => records.getMany(kind, scope, ids)),
    remove: (kind, scope, id) => after(expanded(kind), () => records.remove(kind, scope, id)),
    count: (kind, scope, where) => after(expanded(kind), () => records.count(kind, scope, where)),
    total: (kind, scope, where) => after(expanded(kind), () => records.total(kind, scope, where)),
    clear: (kind, scope, limit) => after(expanded(kind), () => records.clear(kind, scope, limit)),
    left: (kind, scope) => after(expanded(kind), () => records.left(kind, scope)),
  }
}

const isLedgers = ({ name }: RecordKind): boolean => name === usageRows.name || name === requestLog.name

const after = async <T>(first: Promise<void>, then: () => Promise<T>): Promise<T> => {
  await first
  return then()
}

/** A list that merges rows of the table with rows derived from segments. */
class OverlaidList {
  readonly #parts: LedgerRecordsParts
  readonly #kind: RecordKind
  readonly #scope: Scope
  readonly #segments: Table<SegmentData>

  constructor(parts: LedgerRecordsParts, kind: RecordKind, scope: Scope) {
    this.#parts = parts
    this.#kind = kind
    this.#scope = scope
    this.#segments = new Table(parts.records, callSegments, parts.clock.now)
  }

  /** Reads the segments first, so that rows derived in the meantime are found in the table. */
  async read(query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { skip = 0, limit } = query
    const max = skip + limit
    const waiting = await this.#waiting({ ...query, limit: max })
    const stored = await this.#parts.records.list(this.#kind, this.#scope, { ...query, skip: 0, limit: max })
    if (waiting.length === 0) return stored.slice(skip)
    const known = new Set(stored.map(({ id }) => id))
    const all = [...stored, ...waiting.filter(({ id }) => !known.has(id))]
    return all.sort(byId(query)).slice(skip, max)
  }

  /** Returns the first `limit` rows derived from segments, in order. */
  async #waiting(query: RecordQuery): Promise<readonly StoredRecord[]> {
    let first: StoredRecord[] = []
    for (let after = beginning(query); ; ) {
      const page = await this.#segments.list(segmentScope, {
        limit: pageSize,
        ...(query.ascending && { ascending: true }),
        ...(after !== undefined && { after }),
      })
      const found = page.flatMap((segment) => this.#rowsOf(segment, query, first.at(query.limit - 1)))
      if (found.length > 0) first = [...first, ...found].sort(byId(query)).slice(0, query.limit)
      const [last, nth] = [page.at(-1), first.at(query.limit - 1)]
      if (last === undefined || page.length < pageSize) break
      if (nth !== undefined && isBeyond(last, nth, query)) break
      after = last.id
    }
    return first
  }

  /** @param nth last row of interest: rows after it are skipped. */
  #rowsOf(segment: Row<SegmentData>, query: RecordQuery, nth: StoredRecord | undefined): readonly StoredRecord[] {
    const [begin, end] = [query.after === undefined ? null : timeOfId(query.after), nth?.created_at ?? null]
    const [earliest, latest] = query.ascending ? [begin, end] : [end, begin]
    const isInside = ({ call: { at } }: CallPlace): boolean =>
      (earliest === null || at >= earliest) && (latest === null || at <= latest)
    const isUsage = this.#kind.name === usageRows.name
    return placesIn(segment).flatMap((place) => {
      const row = isInside(place) ? (isUsage ? usageRowOf(place) : logLineOf(place)) : null
      return row !== null && this.#isWanted(row, query) ? [row] : []
    })
  }

  #isWanted(row: StoredRecord, { where = {}, after, ascending }: RecordQuery): boolean {
    if (!covers(this.#scope, row)) return false
    if (row.expires_at !== null && row.expires_at <= this.#parts.clock.now()) return false
    if (after !== undefined && (ascending ? row.id <= after : row.id >= after)) return false
    return Object.entries(where).every(([field, value]) => (row.data[field] ?? null) === value)
  }
}

const byId =
  ({ ascending = false }: RecordQuery) =>
  (one: StoredRecord, other: StoredRecord): number =>
    (one.id < other.id ? -1 : 1) * (ascending ? 1 : -1)

/**
 * Start position among the segments: the row of a call is at most `segmentSpanMs` older than its segment, and never
 * newer.
 */
const beginning = ({ after, ascending = false }: RecordQuery): string | undefined => {
  const at = after === undefined ? null : timeOfId(after)
  if (at === null) return undefined
  return idFloor(segmentPrefix, ascending ? at : at + segmentSpanMs + 1)
}

/** Whether all rows of segments after `last` come after the row `nth`. */
const isBeyond = (last: Row<SegmentData>, nth: StoredRecord, { ascending = false }: RecordQuery): boolean => {
  const [seen, row] = [timeOfId(last.id) ?? 0, timeOfId(nth.id) ?? 0]
  return ascending ? seen - segmentSpanMs > row : seen < row
}
