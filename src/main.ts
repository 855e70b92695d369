import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { type Logger, pino } from 'pino'
import { type Config, readConfig } from './config.ts'
import type { Environment } from './environment-reader.ts'
import { misspeltIn } from './misspelt-variables.ts'
import { nodeIdOf } from './open-cluster.ts'
import { type Installation, openInstallation } from './open-installation.ts'
import { loadDrivers } from './open-storage.ts'
import { undici } from './outgoing/undici.ts'
import { closingMs, shutdown } from './shutdown.ts'
import { startFailure } from './start-failure.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { withoutRepetitions } from './telemetry/repeated-lines.ts'

/**
 * Makes V8 collect the old generation when it has grown to 1.7 times its live size, not to about four times. The
 * garbage of a server is mostly short-lived, so this saves a third of its memory for 3 % more CPU. It is set after the
 * start, whose objects are long-lived.
 */
const collectEarly = (): void => setFlagsFromString('--heap-growing-percent=70')

/** Time in ms after the start at which optional modules are loaded, so that no request waits for them later. */
const settledMs = 5_000

/** Loads what the first call to a customer's host needs. That call loads it again if too many files are open now. */
const loadEarly = (log: Logger): void => {
  try {
    undici()
  } catch (error) {
    log.warn({ err: error }, "the client for customers' hosts is not loaded yet")
  }
}

const logOf = (config: Config, fd?: number): Logger => {
  const isNamed = config.nodeId !== null || config.redisUrl !== null
  const base = isNamed ? { node: nodeIdOf(config) } : null
  return pino({ level: config.logLevel, base, hooks: withoutRepetitions() }, new LogOutput(fd))
}

/** Opens the installation of an environment, whose log goes to a file descriptor. A process may open several. */
export const open = (env: Environment, fd: number): Promise<Installation> => {
  const config = readConfig(env)
  return openInstallation(config, logOf(config, fd))
}

const main = async (config: Config): Promise<void> => {
  const log = logOf(config)
  // requests, streams and sockets handle their own errors; a rejection that gets past them has left no state half
  // changed
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  // until the start is complete, there is nothing to stop: the next start recovers from an interrupted one
  let stop = async (): Promise<void> => {}
  let _stopping: Promise<void> | undefined
  // SIGHUP (a closed terminal) shuts down as gracefully as the other signals
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'shutting down')
      const limitMs = config.shutdownGraceMs + closingMs
      _stopping ??= shutdown({ stop, limitMs, log, exit: process.exit })
    })
  }
  for (const misspelt of misspeltIn(process.env)) log.warn(misspelt, 'unknown environment variable, possibly misspelt')
  const installation = await openInstallation(config, log)
  stop = installation.stop
  // this process can no longer write; a process supervisor restarts it if needed
  void installation.replaced.then(() => process.kill(process.pid, 'SIGTERM'))
  collectEarly()
  setTimeout(() => loadEarly(log), settledMs).unref()
}

/**
 * Reads the configuration and starts the server; if it cannot, prints one sentence and exits with code 1. Resolves when
 * the server serves.
 */
export const run = async (): Promise<void> => {
  let config: Config | undefined
  try {
    config = readConfig(process.env)
    await main(config)
  } catch (error) {
    const reason = startFailure(error, config ?? { mongodbUrl: null, dataDir: '' })
    process.stderr.write(`${reason ?? inspect(error)}\n`)
    process.exit(1)
  }
}

export { loadDrivers }
