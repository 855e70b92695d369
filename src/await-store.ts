import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { openStorageAlone } from './open-storage.ts'
import { startFailure } from './start-failure.ts'
import { type RecordKind, type Storage, StoreUnavailable } from './storage/index.ts'

/** Time in ms of one attempt to reach the store; each failed one is logged. */
const attemptMs = 5_000

/** Pause in ms before an operation is repeated; each one has waited for the store itself. */
const pauseMs = 200

/** Dependencies of a start that waits for its store. */
export interface StoreWait {
  readonly config: Config
  /** Kinds of records, whose indexes are built before the start continues. */
  readonly kinds: readonly RecordKind[]
  /** Called when the store does not respond, possibly several times. */
  readonly waiting: () => void
  /** Resolves when the start is complete: from then on, requests get the failures of the store. */
  readonly serving: Promise<void>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Opens the store and prepares it. A MongoDB that does not respond may be starting, electing a primary, or restoring a
 * backup: the start waits for it, without limit or for MONGODB_START_WAIT_S, also when it stops responding before the
 * start is complete. Refused credentials are no reason to wait.
 *
 * @throws {StoreUnavailable} when the time is over, and what `openStorageAlone` throws.
 */
export const awaitStore = async ({ config, kinds, waiting, serving, log }: StoreWait): Promise<Storage> => {
  if (config.mongodbUrl === null) return openStorageAlone(config)
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      const storage = await openPrepared(config, kinds)
      if (attempt > 1) log.info({ attempt }, 'the store responds')
      return untilServing(storage, { ...{ serving, waiting, log, startedAt }, waitMs: config.storeWaitMs })
    } catch (error) {
      const waitedMs = sinceStart(startedAt)
      if (!(error instanceof StoreUnavailable) || waitedMs >= config.storeWaitMs) throw error
      if (attempt === 1) waiting()
      const reason = startFailure(error, config) ?? error.message
      log.warn({ attempt, waitedS: Math.round(waitedMs / 1000), reason }, 'waiting for the store')
    }
  }
}

const sinceStart = (startedAt: number): number => performance.now() - startedAt

const openPrepared = async (config: Config, kinds: readonly RecordKind[]): Promise<Storage> => {
  const startPatienceMs = Math.max(1, Math.min(attemptMs, config.storeWaitMs))
  const storage = await openStorageAlone({ ...config, startPatienceMs })
  try {
    await storage.records.prepare(kinds)
    return storage
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** When operations are repeated, and until when. */
interface PatientStart {
  /** Resolves when the start is complete: later operations fail as the store does. */
  readonly serving: Promise<void>
  /** Called before each repetition. */
  readonly waiting: () => void
  /** By `performance.now()`. */
  readonly startedAt: number
  /** Time in ms since then for which the start may wait. */
  readonly waitMs: number
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Returns the storage with ports whose operations are repeated while the server starts: timeouts of the store are those
 * of requests, and a store that many nodes start on at once, or whose disk stalls, takes longer.
 */
const untilServing = (storage: Storage, { serving, waiting, startedAt, waitMs, log }: PatientStart): Storage => {
  let starts = true
  void serving.then(() => {
    starts = false
  })
  const repeated = async (first: unknown, call: () => unknown): Promise<unknown> => {
    for (let result = first; ; result = call()) {
      try {
        return await result
      } catch (error) {
        const waitedMs = sinceStart(startedAt)
        if (!starts || !(error instanceof StoreUnavailable) || waitedMs >= waitMs) throw error
        const waitedS = Math.round(waitedMs / 1000)
        log.warn({ waitedS, reason: error.message }, 'the store has stopped responding, the start waits')
        waiting()
        await sleep(pauseMs)
      }
    }
  }
  const patient = <Port extends object>(port: Port): Port => {
    const methods = new Map<string | symbol, unknown>()
    const get = (_: Port, name: string | symbol): unknown => {
      const member: unknown = Reflect.get(port, name)
      if (typeof member !== 'function') return member
      const method =
        methods.get(name) ??
        ((...args: readonly unknown[]) => {
          const call = (): unknown => Reflect.apply(member, port, args)
          const result = call()
          return starts && result instanceof Promise ? repeated(result, call) : result
        })
      methods.set(name, method)
      return method
    }
    return new Proxy(port, { get })
  }
  const { commits, records, blobs, leases } = storage
  return {
    ...storage,
    commits: patient(commits),
    records: patient(records),
    blobs: patient(blobs),
    leases: leases && patient(leases),
  }
}
