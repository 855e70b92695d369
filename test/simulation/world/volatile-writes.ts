import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** How long a store holds back what it has acknowledged without its journal, in ms: MongoDB's own interval. */
const journalMs = 100

/** What a store has acknowledged and would forget, were it killed now. */
export class VolatileWrites {
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #undo = new Set<() => void>()

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler
    this.#random = random
  }

  /** `undo` takes back a write that was just made; it is called when the store is killed before the write lasts. */
  wrote(undo: () => void): void {
    this.#undo.add(undo)
    this.#scheduler.after(this.#random.between(0, journalMs), () => this.#undo.delete(undo))
  }

  /** Makes a write when it would last, and not at all when the store is killed before. */
  later(write: () => void): void {
    let isForgotten = false
    this.wrote(() => {
      isForgotten = true
    })
    this.#scheduler.after(journalMs, () => isForgotten || write())
  }

  /** The store is killed. @returns how many writes it has forgotten. */
  forget(): number {
    const forgotten = [...this.#undo].reverse()
    this.#undo.clear()
    for (const undo of forgotten) undo()
    return forgotten.length
  }
}
