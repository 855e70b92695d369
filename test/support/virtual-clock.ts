import type { Clock } from '#runtime/clock.ts'

interface Timer {
  readonly at: number
  readonly work: () => void
}

/** A clock that stands still until a test advances it. */
export class VirtualClock implements Clock {
  #now: number
  #aheadMs = 0
  readonly #timers = new Set<Timer>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  /** An arrow function, so that it can be passed without its clock. */
  readonly now = (): number => this.#now + this.#aheadMs

  readonly steady = (): number => this.#now

  /** Moves the wall clock forwards or back; timers are not affected. */
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

  next(work: () => void): void {
    process.nextTick(work)
  }

  /** Advances time; due timers run in order, each with the work that it causes. Resolves when no work is left. */
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

  /** Simulates a sleep of the process: time jumps ahead, and timers that became due run once. */
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
