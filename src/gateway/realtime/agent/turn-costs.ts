import { Decimal } from 'decimal.js'
import type { SecretBudget } from '../secrets/secret-budget.ts'

/** Events after which no model call of a turn is in progress. */
const restingEvents: ReadonlySet<string> = new Set(['turn.paused', 'turn.completed', 'turn.failed'])

/**
 * Counts what the turns of a socket cost towards the budget of its secret, by the total of their session: also of turns
 * that wait for ever or end after the client has left. A model call that is cancelled is in no total, and is estimated.
 */
export class TurnCosts {
  readonly #budget: SecretBudget | null
  readonly #total: () => Promise<number>
  #countedUsd: number
  /** Whether the turn in progress was begun or is followed as a response here. */
  #isOurs = false
  #last: Promise<void> = Promise.resolve()

  /** @param countedUsd what the session had cost before. @param total returns what it has cost so far, in USD. */
  constructor(budget: SecretBudget | null, countedUsd: number, total: () => Promise<number>) {
    this.#budget = budget?.isLimited === true ? budget : null
    this.#countedUsd = countedUsd
    this.#total = total
  }

  /** Whether a turn is in progress whose cost is still to be counted. */
  get isOpen(): boolean {
    return this.#isOurs && this.#budget !== null
  }

  /** A turn begins or goes on. @returns takes that back, for one that was refused. */
  begun(): () => void {
    const before = this.#isOurs
    this.#isOurs = true
    return () => {
      this.#isOurs = before
    }
  }

  /**
   * Takes an event of the session's log.
   *
   * @param isNextBegun whether it may be of a cancelled turn after which the next one has begun.
   * @returns whether the cost so far is counted now.
   */
  take(eventType: string, isNextBegun = false): boolean {
    if (!restingEvents.has(eventType)) return false
    this.#count()
    if (!isNextBegun) this.#isOurs = false
    return true
  }

  /** Counts the cost so far. What a failing store does not return is counted the next time. */
  #count(): void {
    const budget = this.#budget
    if (budget === null) return
    const isOurs = this.#isOurs
    this.#last = this.#last.then(async () => {
      const total = await this.#total().catch(() => this.#countedUsd)
      const more = new Decimal(total).minus(this.#countedUsd)
      this.#countedUsd = total
      if (isOurs && more.isPositive()) await budget.spent(more.toFixed())
    })
  }

  /** A model call of ours is cut: counts its estimated cost, which the total of the session will not have. */
  cut(estimate: () => Promise<string | null>): void {
    const budget = this.#budget
    if (budget === null) return
    this.#last = this.#last.then(async () => budget.spent(await estimate().catch(() => null)))
  }

  /** Resolves when everything is counted. @throws {ServiceError} `budget_exceeded` when nothing is left. */
  async check(): Promise<void> {
    await this.#last
    this.#budget?.check()
  }
}
