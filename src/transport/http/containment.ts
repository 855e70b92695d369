import type { Logger } from 'pino'

/**
 * Confines exceptions of one connection to that connection.
 *
 * The event loop calls the listeners of sockets and servers: an exception there, or a rejection that is not awaited,
 * ends the process and every other request with it. Every such entry point runs through this class instead.
 */
export class Containment {
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  /** Runs `work`. An exception is logged under `stage`, and `cut` is called to end the connection. Never throws. */
  run(stage: string, work: () => void, cut: () => void): void {
    try {
      work()
    } catch (error) {
      this.failed(stage, error, cut)
    }
  }

  /** Runs `work` in the background; a rejection is treated as an exception. Never throws. */
  start(stage: string, work: () => Promise<unknown>, cut: () => void): void {
    this.run(stage, () => void work().catch((error: unknown) => this.failed(stage, error, cut)), cut)
  }

  /** Logs an error that no other code handles, and calls `cut`. Never throws. */
  failed(stage: string, error: unknown, cut: () => void): void {
    this.#report(stage, error)
    try {
      cut()
    } catch (second) {
      this.#report(stage, second)
    }
  }

  /** An error whose getters throw makes the logger throw; that must not end the process either. */
  #report(stage: string, error: unknown): void {
    try {
      this.#log.error({ err: error, stage }, 'a request failed unexpectedly')
    } catch {
      this.#log.error({ stage }, 'a request failed with an error that cannot be logged')
    }
  }
}
