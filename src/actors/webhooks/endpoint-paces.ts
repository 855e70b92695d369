/** Configuration of `EndpointPaces`. */
export interface PaceParts {
  /** Maximum number of concurrent attempts per webhook. */
  readonly atOnce: number
  /** Returns a monotonic time in ms. */
  readonly steady: () => number
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

/** Shortest and longest delay of a postponed attempt, in ms. */
const minDelayMs = 1_000
const maxDelayMs = 60 * 60_000
/** Assumed response time of an endpoint without earlier attempts, in ms. */
const usualAttemptMs = 1_000
/** Weight of the newest attempt in the moving average of an endpoint's response time. */
const newestPart = 0.2
/** Number of endpoints whose pace is remembered. */
const maxPaces = 10_000

/** Response time of an endpoint in ms, and an estimate of its postponed attempts that have not returned. */
interface Pace {
  attemptMs: number
  away: number
  /** When `away` was last updated. */
  at: number
}

/**
 * Computes how long an attempt is postponed when too many wait: until its turn comes at the endpoint's current pace. So
 * postponed attempts neither return all at once, nor return in vain while the endpoint is slow.
 */
export class EndpointPaces {
  readonly #parts: PaceParts
  readonly #paces = new Map<string, Pace>()

  constructor(parts: PaceParts) {
    this.#parts = parts
  }

  /** Records how long an attempt at the webhook took. */
  ended(webhook: string, ms: number): void {
    const pace = this.#pace(webhook)
    pace.attemptMs += newestPart * (ms - pace.attemptMs)
  }

  /**
   * Returns how long an attempt is postponed, in ms.
   *
   * @param waiting number of attempts of its webhook that wait.
   */
  delay(webhook: string, waiting: number): number {
    const pace = this.#pace(webhook)
    const everyMs = Math.max(pace.attemptMs, 1) / this.#parts.atOnce
    const now = this.#parts.steady()
    pace.away = Math.max(0, pace.away - (now - pace.at) / everyMs) + 1
    pace.at = now
    const ahead = pace.away + waiting
    const delay = Math.max(minDelayMs, ahead * everyMs)
    if (delay <= maxDelayMs) return Math.round(delay)
    // at the maximum, attempts are spread at random over the second half
    return Math.round(maxDelayMs * (1 - this.#parts.random() / 2))
  }

  #pace(webhook: string): Pace {
    const known = this.#paces.get(webhook)
    this.#paces.delete(webhook)
    const pace = known ?? { attemptMs: usualAttemptMs, away: 0, at: this.#parts.steady() }
    this.#paces.set(webhook, pace)
    const [oldest] = this.#paces.keys()
    if (this.#paces.size > maxPaces && oldest !== undefined) this.#paces.delete(oldest)
    return pace
  }
}
