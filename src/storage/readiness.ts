import { randomUUID } from 'node:crypto'
import type { RecordKind, Storage } from './ports.ts'
import { projectScope } from './scope.ts'

/** One row per process that probes for writability; it expires after the process has ended. */
export const writeProbes: RecordKind = { name: 'write_probes' }

/** A successful write is valid for this long, in ms, so that frequent probes do not load the disk. */
const goodForMs = 1000
const keptMs = 86_400_000

/**
 * Returns a check that the store answers and that a durable write succeeds: a store whose disk is full still answers
 * reads.
 *
 * @param now ms since the epoch.
 * @returns a function that rejects with `StoreUnavailable` when the store is unusable.
 */
export const readinessOf = (storage: Pick<Storage, 'records' | 'ping'>, now: () => number): (() => Promise<void>) => {
  const id = `wpr_${randomUUID()}`
  const { project } = projectScope('system')
  const startedAt = now()
  let version = 0
  let wroteAt = Number.NEGATIVE_INFINITY
  return async () => {
    await storage.ping()
    const at = now()
    if (at >= wroteAt && at - wroteAt < goodForMs) return
    const times = { created_at: startedAt, updated_at: at, expires_at: at + keptMs }
    const record = { id, project, tenant: null, user: null, version: ++version, ...times, data: {} }
    await storage.records.project([{ kind: writeProbes, record }])
    wroteAt = at
  }
}
