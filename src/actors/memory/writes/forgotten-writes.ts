import { pause } from '#runtime/index.ts'
import { type EraserParts, requestErasure } from '#runtime/internal.ts'
import type { StoredRecord } from '#storage/index.ts'
import type { MemoryPlace } from '../indexes/memory-place.ts'
import { memoryWriteRows } from '../kinds.ts'
import { type MemoryOwner, ownerKey, ownersScope } from '../memory-owner.ts'

/** A write of a user, as its list row describes it. */
export interface ListedWrite {
  readonly id: string
  /** ms since the epoch. */
  readonly createdAt: number
  /** The memories that it stored, or found to exist already. */
  readonly memories: readonly string[]
  /** Where it will store its memories; null once it has ended. */
  readonly pending: MemoryPlace | null
}

const pageSize = 100

/**
 * Removes the logs of a user's writes, which contain the exchanges, and stops those that are pending.
 *
 * @param isMeant selects the writes.
 * @returns the ids of those that were removed.
 * @throws {StoreUnavailable}
 */
export const forgetWrites = async (
  parts: EraserParts,
  owner: MemoryOwner,
  isMeant: (write: ListedWrite) => boolean,
): Promise<readonly string[]> => {
  const { project, tenant } = owner
  await parts.host.rows.shown()
  const removed: string[] = []
  for (let after: string | undefined; ; ) {
    const query = { where: { owner: ownerKey(owner) }, limit: pageSize, ...(after !== undefined && { after }) }
    const rows = await parts.storage.records.list(memoryWriteRows, ownersScope(owner), query)
    for (const row of rows)
      if (isMeant(writeOf(row)) && (await requestErasure(parts, { actor: row.id, project, tenant })))
        removed.push(row.id)
    after = rows.at(-1)?.id
    if (rows.length < pageSize) return removed
  }
}

/** Polling of the removal of logs: first interval, longest interval and total time, in ms. */
const [firstPollMs, maxPollMs, patienceMs] = [5, 200, 2_000]

/** Whether the logs of these writes are gone, within two seconds. @throws {StoreUnavailable} */
export const isErasedSoon = async (
  { storage, clock }: Pick<EraserParts, 'storage' | 'clock'>,
  writes: readonly string[],
): Promise<boolean> => {
  const until = clock.steady() + patienceMs
  for (const write of writes) {
    for (let waitMs = firstPollMs; (await storage.commits.head(write)) !== null; ) {
      if (clock.steady() > until) return false
      await pause(clock, waitMs)
      waitMs = Math.min(waitMs * 2, maxPollMs)
    }
  }
  return true
}

const writeOf = ({ id, created_at: createdAt, data }: StoredRecord): ListedWrite => {
  const { status, memories, scope, session, namespace } = data
  const place: MemoryPlace = {
    scope: scope === 'session' ? 'session' : 'user',
    session: textOrNull(session),
    namespace: textOrNull(namespace),
  }
  const ids = Array.isArray(memories) ? memories.filter((each) => typeof each === 'string') : []
  return { id, createdAt, memories: ids, pending: status === 'pending' ? place : null }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Selects the writes that stored one of these memories, or found it to exist already. */
export const isWriteOf = (ids: Iterable<string>): ((write: ListedWrite) => boolean) => {
  const named = new Set(ids)
  return ({ memories }) => memories.some((id) => named.has(id))
}
