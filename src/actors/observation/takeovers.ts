import type { Scope } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { derivedId } from '../runtime/index.ts'
import type { Ledger } from '../runtime/internal.ts'
import type { ObservationParts } from './list-actors.ts'

export type TakeoverData = {
  readonly actor: string
  /** Node that runs the actor since. */
  readonly node: string
}

/** Actors that a process took over after another one had crashed, one row each. Rows expire after a day. */
export const takeoverRows: TypedKind<TakeoverData> = { name: 'takeovers', exported: null }

const retentionMs = 24 * 60 * 60 * 1000
/** Newest takeovers that are read. */
const maxRows = 1_000
/** Takeovers further apart than this, in ms, belong to different crashes. */
const gapMs = 60_000

/** Returns a row for the commit by which an actor is taken over after a crash. */
export const takeoverLedger: Ledger = ({ actor, seq, project, tenant, event }, { user }) => {
  const { type, at, crashed, node } = event
  if (type !== '$fenced' || crashed !== true || typeof at !== 'number') return []
  const times = { version: 1, created_at: at, updated_at: at, expires_at: at + retentionMs }
  const id = derivedId('tov', at, `${actor}:${seq}`)
  const data: TakeoverData = { actor, node: typeof node === 'string' ? node : 'a node' }
  return [{ kind: takeoverRows, record: { id, project, tenant, user, ...times, data } }]
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
  for (const { created_at: at, data } of rows) {
    const last = found.at(-1)
    if (last === undefined || last.node !== data.node || last.fromMs - at > gapMs)
      found.push({ node: data.node, actors: 1, fromMs: at, toMs: at })
    else found[found.length - 1] = { ...last, actors: last.actors + 1, fromMs: at }
  }
  return found
}
