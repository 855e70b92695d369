import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { type Clock, pause } from '../clock.ts'

/**
 * Record kind with one row: the number of the newest start on this store, over all processes. Epochs of leases are
 * counted per shard from that number, and may exceed it. A process that runs alone therefore starts above all of them
 * (`lift`).
 */
export const epochs: RecordKind = { name: 'epochs' }

const epochScope = projectScope('system')
const epochId = 'epoch'

/** Time within which the leases of a cluster that has ended expire, in ms. */
const runOutMs = 6000
const pollMs = 500

/** A cluster runs the actors of this store; a process outside of it may not start. */
export class ClusterRuns extends Error {
  override readonly name = 'ClusterRuns'
}

/** Returns the number of the newest start; 0 before the first. @throws {StoreUnavailable} */
export const newestStart = async ({ records }: Pick<Storage, 'records'>): Promise<number> => {
  const stored = await records.get(epochs, epochScope, epochId)
  return stored === null ? 0 : stored.version + liftOf(stored.data.lift)
}

/**
 * Whether the process that started last has not shut down cleanly; false before the first start.
 * @throws {StoreUnavailable}
 */
export const lastCrashed = async ({ records }: Pick<Storage, 'records'>): Promise<boolean> => {
  const stored = await records.get(epochs, epochScope, epochId)
  return stored !== null && stored.data.ended !== true
}

/**
 * Records a clean shutdown of the process with this number, unless another one has started. This uses up a number,
 * since the number is the version of the row.
 *
 * @throws {StoreUnavailable}
 */
export const noteEnd = async ({ records }: Pick<Storage, 'records'>, number: number, now: number): Promise<void> => {
  const stored = await records.get(epochs, epochScope, epochId)
  if (stored === null || stored.version + liftOf(stored.data.lift) !== number) return
  await records.replace(epochs, {
    ...stored,
    version: stored.version + 1,
    updated_at: now,
    data: { ...stored.data, ended: true },
  })
}

/**
 * Takes the next start number.
 *
 * @param min minimum number, for a process that has to be above all leases.
 * @throws {StoreUnavailable}
 */
export const nextStart = async (storage: Pick<Storage, 'records'>, clock: Clock, min = 1): Promise<number> => {
  const { records } = storage
  for (;;) {
    const now = clock.now()
    const stored = await records.get(epochs, epochScope, epochId)
    const version = (stored?.version ?? 0) + 1
    const lift = Math.max(liftOf(stored?.data.lift), min - version)
    const record = {
      id: epochId,
      project: epochScope.project,
      tenant: null,
      user: null,
      version,
      created_at: stored?.created_at ?? now,
      updated_at: now,
      expires_at: null,
      data: lift > 0 ? { lift } : {},
    }
    const outcome = stored === null ? await records.insert(epochs, record) : await records.replace(epochs, record)
    if (outcome === 'done') return version + lift
  }
}

/**
 * Returns the lowest number with which a process that runs alone may start: above the epoch of every lease there ever
 * was. Waits for leftover leases to expire.
 *
 * @throws {ClusterRuns} when a cluster runs on the store.
 * @throws {StoreUnavailable}
 */
export const aboveAllLeases = async ({ leases: store }: Pick<Storage, 'leases'>, clock: Clock): Promise<number> => {
  if (store === null) return 1
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const { leases } = await store.read()
    const live = leases.find(({ holder, leftMs }) => holder !== null && leftMs > 0)
    if (live === undefined) return 1 + Math.max(0, ...leases.map(({ epoch }) => epoch))
    if (waitedMs >= runOutMs) {
      throw new ClusterRuns(
        `${live.holder} at ${live.address} runs actors of this store as part of a cluster. Set REDIS_URL to join it.`,
      )
    }
    await pause(clock, pollMs)
  }
}

const liftOf = (stored: unknown): number => (typeof stored === 'number' ? stored : 0)
