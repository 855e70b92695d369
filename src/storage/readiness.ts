import { randomUUID } from 'node:crypto'
import { projectScope } from '#specs/scope.ts'
import type { RecordKind, Storage } from './ports.ts'

/** One row of each process that looks whether the store takes writes; it runs out when the process has ended. */
export const writeProbes: RecordKind = { name: 'write_probes' }

/** A write that succeeded counts for so long, in ms: probes that come more often load no disk. */
const goodForMs = 1000
const keptMs = 86_400_000

/**
 * Looks whether a store is of use: it answers, and a durable write succeeds. A store whose disk is full still answers reads.
 *
 * @param now ms since the epoch.
 * @returns what rejects with `StoreUnavailable` when it is of none.
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
