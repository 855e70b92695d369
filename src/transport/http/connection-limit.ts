import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'

/** The share of a process's open files that callers' connections may take: the rest is for providers, tools, the store and modules. */
const share = 0.5

/** How often refusals are logged at most, in ms. */
const saidEveryMs = 60_000

/**
 * Connections that callers have open at once: half of what the process may open, so that they never keep it from
 * reaching a provider or reading a file. One beyond is closed before it is read: there is nothing left to answer it with.
 */
export class ConnectionLimit {
  readonly most: number
  readonly #log: Pick<Logger, 'warn'>
  #saidAt = Number.NEGATIVE_INFINITY
  /** Open now, those about to be refused included. */
  open = 0
  /** Refused since the start. */
  refused = 0

  constructor(log: Pick<Logger, 'warn'>, most = Math.floor(openFiles() * share)) {
    this.#log = log
    this.most = most
  }

  /** Counts a connection. @returns whether it may stay; `closed` is called for one that may not, too. */
  opened(): boolean {
    this.open++
    if (this.open <= this.most) return true
    this.#refuse()
    return false
  }

  closed(): void {
    this.open--
  }

  #refuse(): void {
    this.refused++
    if (performance.now() - this.#saidAt < saidEveryMs) return
    this.#saidAt = performance.now()
    const { most, refused } = this
    this.#log.warn({ most, refused }, 'connections refused: raise the file descriptor limit, or add a node')
  }
}

/** How many files this process may have open (RLIMIT_NOFILE; Node raises it as far as it may); infinite where that is not known. */
const openFiles = (): number => {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
