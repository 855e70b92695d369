import { createHash } from 'node:crypto'
import { Pause } from '#retrieval/index.ts'
import type { BodyOf } from '#specs/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import { timestampOf } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { MemoryEntry } from './indexes/user-memory-index.ts'
import { instantOf } from './instant.ts'
import { type MemoryData, memories, memoryForgets } from './kinds.ts'
import { type MemoryOwner, ownerKey, ownerOf, ownersScope } from './memory-owner.ts'
import { memoryPage } from './memory-page.ts'
import { summaryOf } from './memory-search.ts'
import { memoryView } from './memory-view.ts'
import type { OpenMemory } from './open-memory.ts'
import { isWriteOf, type ListedWrite } from './writes/forgotten-writes.ts'

type UpkeepUseCases = Pick<UseCases, `memory.${'forget' | 'export' | 'forget_suggestions'}`>
type Filter = BodyOf<'memory.forget'>

/** Maximum number of memories that one request deletes; when there are more, the response has `truncated`. */
const maxForgotten = 1_000
const dayMs = 86_400_000
const exportPage = 100

/** Use-cases that delete and export memories, and suggest memories to delete. */
export const upkeepUseCases = (memory: OpenMemory): UpkeepUseCases => {
  const table = new Table(memory.records, memories, memory.now)
  const forgets = new Table(memory.records, memoryForgets, memory.now)
  return {
    'memory.forget': async (call) => {
      const owner = ownerOf(call.scope, call.body)
      const isMeant = forgottenBy(call.body)
      const at = timestampOf(memory.now())
      if (call.body.dry_run === true) {
        const { some, truncated } = await selected(memory, owner, isMeant)
        return { forgotten: some.length, truncated, receipt: { at, surfaces: [], files: 'unchanged' } }
      }
      // first the writes: those that are pending would store further memories, and the exchanges of memories that are
      // gone would not be found again after a crash
      const isOfKnown = isExchangeOf((await selected(memory, owner, isMeant)).some)
      const isStopped = isForgottenWrite(call.body)
      const stopped = await memory.forgetWrites(owner, (write) => isStopped(write) || isOfKnown(write))
      const { some, truncated, removed } = await memory.writer.alone(owner, async () => {
        const chosen = await selected(memory, owner, isMeant)
        const ids = chosen.some.map(({ id }) => id)
        const { project, tenant } = owner
        const id = newIdFor(call, 'mfg')
        // the audit entry is stored before anything is removed
        const notices = [new Audited(call, 'memory').line('forgotten', nameOf(owner), filtersOf(call.body))]
        const data = { by: filtersOf(call.body), forgotten: ids.length }
        await forgets.insert({ id, project, tenant, expiresAtMs: memory.now() + 30 * dayMs, data, notices })
        return { ...chosen, removed: await memory.forget(owner, ids) }
      })
      const ended = await memory.forgetWrites(owner, isExchangeOf(some))
      const writes = [...new Set([...stopped, ...ended])]
      const files = await memory.purge(owner, writes)
      const surfaces = [...surfacesOf(some, removed), { surface: 'receipts', removed: writes.length }]
      return { forgotten: removed, truncated, receipt: { at, surfaces, files } }
    },
    'memory.export': async ({ scope, body }) => {
      const owner = ownerOf(scope, body)
      const limit = body.limit ?? exportPage
      const page = await memoryPage(table, owner, { limit, ascending: true, cursor: body.cursor })
      const { nextCursor } = page
      return { memories: page.rows.map(memoryView), nextCursor, truncated: nextCursor !== null }
    },
    'memory.forget_suggestions': async ({ scope, query }) => {
      const owner = ownerOf(scope, query)
      const index = await memory.indexes.open(owner)
      const now = memory.now()
      const weakest = await weakestOf(index.entries(), { ...query, now })
      const rows = await Promise.all(weakest.map(({ id }) => table.get(ownersScope(owner), id)))
      const suggestions = weakest.flatMap((entry, place) => {
        const row = rows[place] ?? null
        if (row === null) return []
        const strength = Math.round(strengthOf(entry, now) * 1000) / 1000
        const idle_days = idleDays(entry, now)
        return [
          { id: entry.id, content: summaryOf(row.data.content), strength, idle_days, reason: reasonOf(row.data, now) },
        ]
      })
      return { suggestions }
    },
  }
}

/** Returns the weakest of the memories that were not found for long, weakest first, without holding the event loop. */
const weakestOf = async (
  entries: Iterable<MemoryEntry>,
  { minIdleDays, limit, now }: { readonly minIdleDays: number; readonly limit: number; readonly now: number },
): Promise<readonly MemoryEntry[]> => {
  const pause = new Pause()
  const byStrength = (a: Weighed, b: Weighed) => a.strength - b.strength
  let weakest: Weighed[] = []
  for (const entry of [...entries]) {
    if (entry.pinned || idleDays(entry, now) < minIdleDays) continue
    weakest.push({ entry, strength: strengthOf(entry, now) })
    if (weakest.length >= 10 * limit) weakest = weakest.sort(byStrength).slice(0, limit)
    if (pause.due()) await pause.turn()
  }
  return weakest
    .sort(byStrength)
    .slice(0, limit)
    .map(({ entry }) => entry)
}

interface Weighed {
  readonly entry: MemoryEntry
  readonly strength: number
}

/** Returns the first memories that a filter selects, and whether there are more. */
const selected = async (memory: OpenMemory, owner: MemoryOwner, isMeant: (entry: MemoryEntry) => boolean) => {
  const index = await memory.indexes.open(owner)
  const all = [...index.entries()].filter(isMeant)
  const some = all.slice(0, maxForgotten)
  return { some, truncated: all.length > some.length }
}

/** Selects the writes that a filter ends before they store memories; without a filter, all of the user's. */
const isForgottenWrite = (filter: Filter): ((write: ListedWrite) => boolean) => {
  const { before, namespace, sessionId, ids } = filter
  if (filtersOf(filter).length === 0) return () => true
  const until = instantOf('before', before)
  return ({ pending, createdAt }) =>
    pending !== null &&
    ids === undefined &&
    (until === undefined || createdAt < until) &&
    (namespace === undefined || pending.namespace === namespace) &&
    (sessionId === undefined || pending.session === sessionId)
}

const forgottenBy = ({ before, namespace, sessionId, ids }: Filter) => {
  const until = instantOf('before', before)
  const named = ids === undefined ? null : new Set(ids)
  return ({ id, createdAt, place }: MemoryEntry): boolean =>
    (until === undefined || createdAt < until) &&
    (namespace === undefined || place.namespace === namespace) &&
    (sessionId === undefined || place.session === sessionId) &&
    (named === null || named.has(id))
}

const filtersOf = (body: Filter): readonly string[] =>
  (['before', 'namespace', 'sessionId', 'ids'] as const).filter((name) => body[name] !== undefined)

const surfacesOf = (some: readonly MemoryEntry[], removed: number) => [
  { surface: 'store', removed },
  { surface: 'index', removed: some.length },
  { surface: 'vectors', removed: some.filter(({ embedded }) => embedded).length },
  { surface: 'graph', removed: some.reduce((sum, { facts }) => sum + facts.length, 0) },
]

/** Selects the writes from which these memories come. */
const isExchangeOf = (some: readonly MemoryEntry[]): ((write: ListedWrite) => boolean) => {
  const [isOf, receipts] = [isWriteOf(some.map(({ id }) => id)), new Set(some.map(({ receipt }) => receipt))]
  return (write) => isOf(write) || receipts.has(write.id)
}

/** Hash that stands for the user in the audit log, whose entries stay after the memories are deleted. */
const nameOf = (owner: MemoryOwner): string =>
  createHash('sha256')
    .update(JSON.stringify([owner.project, ownerKey(owner)]))
    .digest('hex')
    .slice(0, 32)

const idleDays = ({ usedAt, createdAt }: MemoryEntry, now: number): number =>
  Math.max(0, Math.floor((now - Math.max(usedAt ?? 0, createdAt)) / dayMs))

/** Strength from 0: lowest for invalid memories, then for unimportant ones that were not found for long. */
const strengthOf = (entry: MemoryEntry, now: number): number => {
  const holds = entry.validTo === null || entry.validTo > now
  return (holds ? 1 : 0.1) * entry.importance * 2 ** (-idleDays(entry, now) / 30)
}

const reasonOf = ({ valid_to_ms: end, superseded_by, used_at_ms, importance }: MemoryData, now: number) => {
  if (end !== null && end <= now) return superseded_by === null ? ('expired' as const) : ('superseded' as const)
  return importance < 0.3 && used_at_ms !== null ? ('unimportant' as const) : ('unused' as const)
}
