/** Limits of the browsers that run at the same time in this process. */
export interface PoolLimits {
  readonly atOnce: number
  /** Per tenant, or for the jobs of the project itself. */
  readonly perOwner: number
}

/**
 * Returns the limits from BROWSER_JOBS; the default is one more than the number of processors. One owner cannot take
 * the last place, so that others need not wait for its jobs, and it can still keep every processor busy.
 */
export const poolLimits = (configured: number | null, processors: number): PoolLimits => {
  const atOnce = configured ?? processors + 1
  return { atOnce, perOwner: Math.max(1, atOnce - 1) }
}

interface Waiting {
  readonly owner: string
  readonly enter: () => void
}

/**
 * Assigns the browsers of this process to jobs. The owner with the fewest running browsers comes first; jobs of equal
 * owners are served in order of arrival.
 */
export class BrowserPool {
  readonly #limits: PoolLimits
  readonly #held = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #taken = 0

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  /** Number of browsers in use. */
  get taken(): number {
    return this.#taken
  }

  /** Number of waiting jobs. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `work` once a browser is free; undefined when the signal aborts before. */
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

  /** Returns the index of the next job, whose owner has the fewest browsers and is below its limit; -1 for none. */
  #nextAt(): number {
    const held = this.#waiting.map(({ owner }) => this.#held.get(owner) ?? 0)
    const fewest = Math.min(...held)
    return fewest < this.#limits.perOwner ? held.indexOf(fewest) : -1
  }
}
