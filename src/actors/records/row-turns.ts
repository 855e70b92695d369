import type { RecordStore } from '#storage/ports.ts'

const all = new WeakMap<RecordStore, RowTurns>()

/**
 * Lets the changes of one row that this process makes go one after another: side by side they would only overtake each
 * other, fifty of them in some thousand writes instead of fifty. Other processes are kept out by the version guard.
 */
export class RowTurns {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** The turns at the rows of a store, shared by all its tables. */
  static at(records: RecordStore): RowTurns {
    const known = all.get(records) ?? new RowTurns()
    all.set(records, known)
    return known
  }

  /** Runs `work` when all that came before it for this row has ended, however it ended. */
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
