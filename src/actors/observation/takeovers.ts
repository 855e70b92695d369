import type { Scope, StoredRecord } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { derivedId } from '../runtime/index.ts'
import type { TakenOver } from '../runtime/internal.ts'
import type { ObservationParts } from './list-actors.ts'

export type TakeoverData = {
  /** Node that runs the actors since. */
  readonly node: string
  /** Number of actors; absent in rows of earlier versions, which have one actor each. */
  readonly actors?: number
}

/** Actors that a process took over after another one had crashed, a row for each tenant. Rows expire after a day. */
export const takeoverRows: TypedKind<TakeoverData> = { name: 'takeovers', exported: null }

const retentionMs = 24 * 60 * 60 * 1000
/** Newest rows that are read. */
const maxRows = 1_000
/** Takeovers further apart than this, in ms, belong to different crashes. */
const gapMs = 60_000

/**
 * Counts the actors that this process takes over after a crash, in a row for each tenant that is replaced while it
 * grows. A crash before the row is written loses the count, and delays no commit.
 */
export const takeoverCounts = (): TakenOver => {
  /** The newest row of each tenant, the one that grew last at the end. */
  const growing = new Map<string, StoredRecord>()
  return ({ actor, seq, project, tenant, event: { type, at, crashed, node } }) => {
    if (type !== '$fenced' || crashed !== true || typeof at !== 'number') return null
    for (const [key, { updated_at }] of growing) {
      if (at - updated_at <= gapMs) break
      growing.delete(key)
    }
    const key = JSON.stringify([project, tenant])
    const last = growing.get(key)
    const id = last?.id ?? derivedId('tov', at, `${actor}:${seq}`)
    const version = (last?.version ?? 0) + 1
    const data: TakeoverData = { node: typeof node === 'string' ? node : 'a node', actors: version }
    const times = { created_at: last?.created_at ?? at, updated_at: at, expires_at: at + retentionMs }
    const record = { id, project, tenant, user: null, version, ...times, data }
    growing.delete(key)
    growing.set(key, record)
    return { kind: takeoverRows, record }
  }
}

/** The actors that one node took over after one crash. Times in ms since the epoch. */
export interface Takeover {
  readonly node: string
  readonly actors: number
  readonly fromMs: number
  readonly toMs: number
}

/** Returns the takeovers of the last day, newest first. */
export const recentTakeovers = async (
  { records, now }: Pick<ObservationParts, 'records' | 'now'>,
  scope: Scope,
): Promise<readonly Takeover[]> => {
  const rows = await new Table<TakeoverData>(records, takeoverRows, now).list(scope, { limit: maxRows })
  const found: Takeover[] = []
  for (const { created_at: fromMs, updated_at: toMs, data } of rows) {
    const { node, actors = 1 } = data
    const last = found.at(-1)
    if (last === undefined || last.node !== node || last.fromMs - toMs > gapMs)
      found.push({ node, actors, fromMs, toMs })
    else
      found[found.length - 1] = {
        node,
        actors: last.actors + actors,
        fromMs: Math.min(last.fromMs, fromMs),
        toMs: Math.max(last.toMs, toMs),
      }
  }
  return found
}
