import type { RecordStore } from '#storage/index.ts'

const all = new WeakMap<RecordStore, RowTurns>()

/**
 * Serialises this process's changes of one row. Concurrent changes would only invalidate each other: fifty of them
 * would need some thousand writes instead of fifty. Against other processes the version guard protects.
 */
export class RowTurns {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Returns the instance for a store, shared by all its tables. */
  static at(records: RecordStore): RowTurns {
    const known = all.get(records) ?? new RowTurns()
    all.set(records, known)
    return known
  }

  /** Runs `work` when all earlier work for this row has ended, successfully or not. */
  async take<T>(row: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(row)
    const turn = before === undefined ? work() : before.then(work)
    const tail = turn.catch(() => undefined)
    this.#tails.set(row, tail)
    try {
      return await turn
    } finally {
      if (this.#tails.get(row) === tail) this.#tails.delete(row)
    }
  }
}
