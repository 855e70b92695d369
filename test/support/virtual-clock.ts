import type { Clock } from '#runtime/clock.ts'

interface Timer {
  readonly at: number
  readonly work: () => void
}

/** Time that stands still until a test moves it. */
export class VirtualClock implements Clock {
  #now: number
  #aheadMs = 0
  readonly #timers = new Set<Timer>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  /** Handed around without its clock by those who only want to know the time. */
  readonly now = (): number => this.#now + this.#aheadMs

  readonly steady = (): number => this.#now

  /** The wall clock is set, forwards or back; what waits does not wait longer or shorter for that. */
  set(ms: number): void {
    this.#aheadMs += ms
  }

  after(ms: number, work: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), work }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  soon(work: () => void): void {
    setImmediate(work)
  }

  /** Moves time on; what falls due runs in order, each with all that follows from it. Resolves when all is calm. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await calm()
    for (let next = this.#due(target); next !== undefined; next = this.#due(target)) {
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.work()
      await calm()
    }
    this.#now = target
    await calm()
  }

  /** As if the process had slept: time is later at once, and what fell due meanwhile runs once. */
  async leap(ms: number): Promise<void> {
    this.#now += ms
    await this.advance(0)
  }

  #due(target: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= target && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}

const rounds = 12

/** Resolves when work that needs neither time nor I/O has run: some rounds of the event loop. */
export const calm = async (): Promise<void> => {
  for (let round = 0; round < rounds; round++) await new Promise<void>((resolve) => setImmediate(resolve))
}
