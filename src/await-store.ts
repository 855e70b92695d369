import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { openStorageAlone } from './open-storage.ts'
import { startFailure } from './start-failure.ts'
import { type RecordKind, type Storage, StoreUnavailable } from './storage/index.ts'

/** Time in ms of one attempt to reach the store; each failed one is logged. */
const attemptMs = 5_000

/** Dependencies of a start that waits for its store. */
export interface StoreWait {
  readonly config: Config
  /** Kinds of records, whose indexes are built before the start continues. */
  readonly kinds: readonly RecordKind[]
  /** Called once, when the store does not respond at first. */
  readonly waiting: () => void
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Opens the store and prepares it. A MongoDB that does not respond may be starting, electing a primary, or restoring a
 * backup: the start waits for it, without limit or for MONGODB_START_WAIT_S. Refused credentials are no reason to wait.
 *
 * @throws {StoreUnavailable} when the time is over, and what `openStorageAlone` throws.
 */
export const awaitStore = async ({ config, kinds, waiting, log }: StoreWait): Promise<Storage> => {
  if (config.mongodbUrl === null) return openStorageAlone(config)
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      const storage = await openPrepared(config, kinds)
      if (attempt > 1) log.info({ attempt }, 'the store responds')
      return storage
    } catch (error) {
      const waitedMs = performance.now() - startedAt
      if (!(error instanceof StoreUnavailable) || waitedMs >= config.storeWaitMs) throw error
      if (attempt === 1) waiting()
      const reason = startFailure(error, config) ?? error.message
      log.warn({ attempt, waitedS: Math.round(waitedMs / 1000), reason }, 'waiting for the store')
    }
  }
}

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
