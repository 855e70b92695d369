import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'

/**
 * The share of a process's file descriptors for client connections. The rest is for providers, tools, the store and
 * modules.
 */
const share = 0.5

/** Minimum interval between log lines about refusals, in ms. */
const warnEveryMs = 60_000

/**
 * Limits open client connections to half of the process's file descriptors, so that they never keep it from reaching a
 * provider or reading a file. A connection beyond the limit is closed unread, since no descriptors are left to answer
 * it.
 */
export class ConnectionLimit {
  readonly max: number
  readonly #log: Pick<Logger, 'warn'>
  #warnedAt = Number.NEGATIVE_INFINITY
  /** Open connections, including those about to be refused. */
  open = 0
  /** Refused since the start. */
  refused = 0

  constructor(log: Pick<Logger, 'warn'>, max = Math.floor(openFiles() * share)) {
    this.#log = log
    this.max = max
  }

  /** Counts a connection. @returns whether it may stay; `closed` must be called for a refused one, too. */
  opened(): boolean {
    this.open++
    if (this.open <= this.max) return true
    this.#refuse()
    return false
  }

  closed(): void {
    this.open--
  }

  #refuse(): void {
    this.refused++
    if (performance.now() - this.#warnedAt < warnEveryMs) return
    this.#warnedAt = performance.now()
    const { max, refused } = this
    this.#log.warn({ max, refused }, 'connections refused: raise the file descriptor limit, or add a node')
  }
}

/**
 * File descriptor limit of this process (RLIMIT_NOFILE, which Node raises as far as allowed); infinite where unknown.
 */
const openFiles = (): number => {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
