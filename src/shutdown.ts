import type { Logger } from 'pino'

/** Time in ms for closing connections, models, the cluster and the store, in addition to the wait for running work. */
export const closingMs = 30_000

export interface Shutdown {
  /** Waits for running work and closes everything. */
  readonly stop: () => Promise<void>
  readonly limitMs: number
  readonly log: Logger
  readonly exit: (code: number) => void
}

/**
 * Closes everything and exits: with code 0 when all is closed, with 1 when closing failed or has not finished after
 * `limitMs`. The next start recovers interrupted work, as after a crash.
 */
export const shutdown = async ({ stop, limitMs, log, exit }: Shutdown): Promise<void> => {
  const late = setTimeout(() => {
    log.error({ after_ms: limitMs }, 'closing did not finish in time: exiting anyway')
    exit(1)
  }, limitMs)
  try {
    await stop()
    exit(0)
  } catch (error) {
    log.error({ err: error }, 'closing failed')
    exit(1)
  } finally {
    clearTimeout(late)
  }
}
