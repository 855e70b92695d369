import type { Clock } from '#runtime/index.ts'
import { type IndexPlace, recheckMs } from './stored-index.ts'

const maxNoted = 1_000

/**
 * The indexes that this process has changed recently. Another process may search them, whose index is as old as an index
 * may become unless a search requires that it is read anew.
 */
export class RecentChanges {
  readonly #clock: Pick<Clock, 'steady'>
  readonly #until = new Map<string, number>()

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock
  }

  /** Notes a change that is in the store now. */
  note({ id }: IndexPlace): void {
    const now = this.#clock.steady()
    if (this.#until.size >= maxNoted) for (const [each, until] of this.#until) if (until < now) this.#until.delete(each)
    this.#until.set(id, now + recheckMs)
  }

  /** Whether an index in memory anywhere may lack a change of this process. */
  has({ id }: IndexPlace): boolean {
    return (this.#until.get(id) ?? Number.NEGATIVE_INFINITY) >= this.#clock.steady()
  }
}
