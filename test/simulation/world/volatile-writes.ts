import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** How long a store delays persisting what it has acknowledged without its journal, in ms: the interval of MongoDB. */
const journalMs = 100

/** What a store has acknowledged and would lose if it were killed now. */
export class VolatileWrites {
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #undo = new Set<() => void>()

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler
    this.#random = random
  }

  /** `undo` reverts a write that was just made; it is called if the store is killed before the write is durable. */
  wrote(undo: () => void): void {
    this.#undo.add(undo)
    this.#scheduler.after(this.#random.between(0, journalMs), () => this.#undo.delete(undo))
  }

  /** Makes a write when it becomes durable, and not at all if the store is killed before. */
  later(write: () => void): void {
    let isForgotten = false
    this.wrote(() => {
      isForgotten = true
    })
    this.#scheduler.after(journalMs, () => isForgotten || write())
  }

  /** Kills the store. @returns how many writes it has lost. */
  forget(): number {
    const forgotten = [...this.#undo].reverse()
    this.#undo.clear()
    for (const undo of forgotten) undo()
    return forgotten.length
  }
}
