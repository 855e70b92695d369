import type { Logger } from 'pino'

/** How long closing may take in ms beyond the wait for work that runs: connections, models, the cluster, the store. */
export const closingMs = 30_000

export interface Shutdown {
  /** Lets running work end and closes everything. */
  readonly stop: () => Promise<void>
  readonly limitMs: number
  readonly log: Logger
  readonly exit: (code: number) => void
}

/**
 * Ends the process, whatever closing does: with 0 when all was closed, with 1 when something could not be closed or is not
 * closed after `limitMs`. What is cut then the next start takes up, as after a crash.
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
