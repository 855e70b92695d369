import type { Random } from './random.ts'

interface Entry {
  readonly at: number
  /** The order among entries that are due at the same time. */
  readonly tie: number
  readonly work: () => void
  gone: boolean
}

/**
 * The only source of asynchrony in a simulation: work at virtual times, one piece at a time, with all promises that it
 * settles followed up before the next. The seed chooses the order of work that is due at the same time.
 */
export class Scheduler {
  #now: number
  readonly #random: Random
  readonly #heap: Entry[] = []

  constructor(random: Random, now = Date.UTC(2026, 0, 1)) {
    this.#random = random
    this.#now = now
  }

  /** ms since the epoch. */
  readonly now = (): number => this.#now

  /** Runs `work` after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void {
    const entry = { at: this.#now + Math.max(0, ms), tie: this.#random.next(), work, gone: false }
    this.#push(entry)
    return () => {
      entry.gone = true
    }
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Runs work until `done` returns true, or `ms` of virtual time have passed. @returns the last result of `done`. */
  async run(done: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      if (done()) return true
      const next = this.#heap[0]
      if (next === undefined || next.at > end) break
      this.#pop()
      if (next.gone) continue
      this.#now = Math.max(this.#now, next.at)
      next.work()
    }
    this.#now = Math.max(this.#now, end)
    return false
  }

  /** Moves the time forward at once, as after a machine's sleep. */
  leap(ms: number): void {
    this.#now += ms
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !before(entry, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      let below = heap[child]
      const other = heap[child + 1]
      if (below === undefined) break
      if (other !== undefined && before(other, below)) {
        below = other
        child++
      }
      if (!before(below, last)) break
      heap[index] = below
      index = child
    }
    heap[index] = last
  }
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.tie < b.tie)

/** Resolves when every promise that can settle without the scheduler has settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
