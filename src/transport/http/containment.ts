import type { Logger } from 'pino'

/**
 * Keeps what one connection throws within that connection.
 *
 * A socket's events and a server's callbacks are called by the event loop: a throw there, or a rejection that is not
 * awaited, ends the process and every other request with it. Every such entry runs through here instead.
 */
export class Containment {
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  /** Runs `work`. A throw is logged under `stage` and ends what it belongs to by `cut`. Never throws. */
  run(stage: string, work: () => void, cut: () => void): void {
    try {
      work()
    } catch (error) {
      this.failed(stage, error, cut)
    }
  }

  /** Runs `work` and waits for it in the background; a rejection is treated as a throw. Never throws. */
  start(stage: string, work: () => Promise<unknown>, cut: () => void): void {
    this.run(stage, () => void work().catch((error: unknown) => this.failed(stage, error, cut)), cut)
  }

  /** Logs an error without another handler, and ends what it belongs to. Never throws. */
  failed(stage: string, error: unknown, cut: () => void): void {
    this.#report(stage, error)
    try {
      cut()
    } catch (second) {
      this.#report(stage, second)
    }
  }

  /** A logger that throws (an error whose getters do) must not end the process either. */
  #report(stage: string, error: unknown): void {
    try {
      this.#log.error({ err: error, stage }, 'a request failed unexpectedly')
    } catch {
      this.#log.error({ stage }, 'a request failed with an error that cannot be logged')
    }
  }
}
