import type { Clock } from '../clock.ts'

/** Number of names from which expired ones are removed. */
const maxNames = 1_000

/** Names that are remembered for a time each. */
export class ExpiringNames {
  readonly #clock: Pick<Clock, 'steady'>
  readonly #until = new Map<string, number>()

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock
  }

  add(name: string, ms: number): void {
    const now = this.#clock.steady()
    if (this.#until.size >= maxNames)
      for (const [each, until] of this.#until) if (until <= now) this.#until.delete(each)
    this.#until.set(name, now + ms)
  }

  has(name: string): boolean {
    return (this.#until.get(name) ?? Number.NEGATIVE_INFINITY) > this.#clock.steady()
  }
}
