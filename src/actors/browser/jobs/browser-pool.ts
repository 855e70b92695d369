/** How many browsers work at a time in this process. */
export interface PoolLimits {
  readonly atOnce: number
  /** Of one tenant, or of a project's own jobs. */
  readonly perOwner: number
}

/**
 * Places by BROWSER_JOBS; by default one more than there are processors. An owner never has the last one, so that others
 * need not wait for its jobs: alone it keeps every processor busy.
 */
export const poolLimits = (configured: number | null, processors: number): PoolLimits => {
  const atOnce = configured ?? processors + 1
  return { atOnce, perOwner: Math.max(1, atOnce - 1) }
}

interface Waiting {
  readonly owner: string
  readonly enter: () => void
}

/** Gives places among the browsers of this process: an owner that has fewer comes first, and first come, first served among equals. */
export class BrowserPool {
  readonly #limits: PoolLimits
  readonly #held = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #taken = 0

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#taken
  }

  /** Jobs that wait for a place. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `work` in a place; undefined when the signal aborts before there is one. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#enter(owner, signal))) return undefined
    try {
      return await work()
    } finally {
      this.#leave(owner)
    }
  }

  async #enter(owner: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    return new Promise((resolve) => {
      const waiting: Waiting = {
        owner,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          resolve(true)
        },
      }
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        resolve(false)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(waiting)
      this.#admit()
    })
  }

  #leave(owner: string): void {
    this.#taken--
    const held = (this.#held.get(owner) ?? 1) - 1
    if (held === 0) this.#held.delete(owner)
    else this.#held.set(owner, held)
    this.#admit()
  }

  #admit(): void {
    while (this.#taken < this.#limits.atOnce) {
      const at = this.#nextAt()
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1)
      if (next === undefined) return
      this.#taken++
      this.#held.set(next.owner, (this.#held.get(next.owner) ?? 0) + 1)
      next.enter()
    }
  }

  /** Whose owner has the fewest places, and not all it may have; -1: none. */
  #nextAt(): number {
    const held = this.#waiting.map(({ owner }) => this.#held.get(owner) ?? 0)
    const fewest = Math.min(...held)
    return fewest < this.#limits.perOwner ? held.indexOf(fewest) : -1
  }
}
