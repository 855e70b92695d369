import { covers, type Scope } from '../../../../specs/scope.ts'
import type { RecordKind, RecordQuery, RecordStore, StoredRecord } from '../../../storage/ports.ts'
import { idFloor, timeOfId } from '../../ids.ts'
import { boundRecords } from '../../records/bound-records.ts'
import type { Row } from '../../records/schema.ts'
import { Table } from '../../records/table.ts'
import { type Clock, within } from '../../runtime/clock.ts'
import { usageRows } from '../../usage/kinds.ts'
import { callSegments, requestLog, type SegmentData, segmentPrefix, segmentScope, segmentSpanMs } from './kinds.ts'
import type { SegmentExpander } from './segment-expander.ts'
import { rowsIn } from './segment-rows.ts'

/** Segments that are read at once. */
const pageSize = 4
/** How long a request waits for the calls of this process to be durable, in ms. */
const patienceMs = 2_000

/** What reading through segments stands on. */
export interface LedgerRecordsParts {
  readonly records: RecordStore
  readonly clock: Clock
  /** Everything taken so far is durable. */
  readonly flush: () => Promise<void>
  readonly expander: Pick<SegmentExpander, 'all'>
}

/**
 * The store as readers of usage and of the request log are to see it: with the rows of calls that are not rows yet. A
 * list reads the segments of its time beside the table, so it costs little however many wait; whatever else is asked of
 * these two kinds has all segments made rows first, as the removal of a tenant needs.
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

/** A list of rows that are in the table, and of rows that only follow from segments yet. */
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

  /** Segments first: one that becomes rows meanwhile is found as those. */
  async read(query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { skip = 0, limit } = query
    const most = skip + limit
    const waiting = await this.#waiting({ ...query, limit: most })
    const stored = await this.#parts.records.list(this.#kind, this.#scope, { ...query, skip: 0, limit: most })
    if (waiting.length === 0) return stored.slice(skip)
    const known = new Set(stored.map(({ id }) => id))
    const all = [...stored, ...waiting.filter(({ id }) => !known.has(id))]
    return all.sort(byId(query)).slice(skip, most)
  }

  /** At least the first `limit` rows of segments, in order. */
  async #waiting(query: RecordQuery): Promise<readonly StoredRecord[]> {
    const rows: StoredRecord[] = []
    for (let after = beginning(query); ; ) {
      const page = await this.#segments.list(segmentScope, {
        limit: pageSize,
        ...(query.ascending && { ascending: true }),
        ...(after !== undefined && { after }),
      })
      for (const segment of page) rows.push(...this.#rowsOf(segment, query))
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) break
      const nth = rows.length < query.limit ? undefined : rows.sort(byId(query))[query.limit - 1]
      if (nth !== undefined && isBeyond(last, nth, query)) break
      after = last.id
    }
    return rows.sort(byId(query)).slice(0, query.limit)
  }

  #rowsOf(segment: Row<SegmentData>, { where = {}, after, ascending }: RecordQuery): readonly StoredRecord[] {
    const now = this.#parts.clock.now()
    const isUsage = this.#kind.name === usageRows.name
    return rowsIn(segment).flatMap(({ usage, line }) => {
      const row: StoredRecord | null = isUsage ? usage : line
      if (row === null || !covers(this.#scope, row)) return []
      if (row.expires_at !== null && row.expires_at <= now) return []
      if (after !== undefined && (ascending ? row.id <= after : row.id >= after)) return []
      return Object.entries(where).every(([field, value]) => (row.data[field] ?? null) === value) ? [row] : []
    })
  }
}

const byId =
  ({ ascending = false }: RecordQuery) =>
  (one: StoredRecord, other: StoredRecord): number =>
    (one.id < other.id ? -1 : 1) * (ascending ? 1 : -1)

/** Where to begin among the segments: a call's row is at most `segmentSpanMs` older than its segment, and never younger. */
const beginning = ({ after, ascending = false }: RecordQuery): string | undefined => {
  const at = after === undefined ? null : timeOfId(after)
  if (at === null) return undefined
  return idFloor(segmentPrefix, ascending ? at : at + segmentSpanMs + 1)
}

/** Whether what comes after the segment `last` comes after the row `nth` too. */
const isBeyond = (last: Row<SegmentData>, nth: StoredRecord, { ascending = false }: RecordQuery): boolean => {
  const [seen, row] = [timeOfId(last.id) ?? 0, timeOfId(nth.id) ?? 0]
  return ascending ? seen - segmentSpanMs > row : seen < row
}
