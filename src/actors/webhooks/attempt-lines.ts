import type { AttemptOf } from './attempt-gate.ts'

/** Most attempts that wait in memory; further ones wait in the store. */
export interface LineLimits {
  readonly ofWebhook: number
  readonly ofProject: number
  readonly ofNode: number
}

/** Configuration of `AttemptLines`. */
export interface LineParts {
  readonly limits: LineLimits
  /** Most concurrent attempts per webhook. */
  readonly atOnce: number
  /** Returns a monotonic time in ms. */
  readonly steady: () => number
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

/** Shortest and longest delay of a postponed attempt, in ms. */
const leastDelayMs = 1_000
const mostDelayMs = 60 * 60_000
/** Assumed response time of an endpoint without earlier attempts, in ms. */
const usualAttemptMs = 1_000
/** Weight of the newest attempt in the moving average of an endpoint's response time. */
const newestPart = 0.2
/** Number of endpoints whose pace is remembered. */
const mostPaces = 10_000

/** Response time of an endpoint in ms, and an estimate of its postponed attempts that have not returned. */
interface Pace {
  attemptMs: number
  away: number
  /** When `away` was last updated. */
  at: number
}

/**
 * Counts waiting attempts, and computes how long an attempt is postponed when the line is full: until its turn comes at
 * the endpoint's current pace. So postponed attempts neither return all at once, nor return in vain while the endpoint
 * is slow.
 */
export class AttemptLines {
  readonly #parts: LineParts
  readonly #webhooks = new Map<string, number>()
  readonly #projects = new Map<string, number>()
  #all = 0
  readonly #paces = new Map<string, Pace>()

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  /** Number of waiting attempts. */
  get waiting(): number {
    return this.#all
  }

  isFull({ webhook, project }: AttemptOf): boolean {
    const { ofWebhook, ofProject, ofNode } = this.#parts.limits
    if (this.#all >= ofNode || (this.#projects.get(project) ?? 0) >= ofProject) return true
    return (this.#webhooks.get(webhook) ?? 0) >= ofWebhook
  }

  enter({ webhook, project }: AttemptOf): void {
    this.#all++
    add(this.#webhooks, webhook, 1)
    add(this.#projects, project, 1)
  }

  leave({ webhook, project }: AttemptOf): void {
    this.#all--
    add(this.#webhooks, webhook, -1)
    add(this.#projects, project, -1)
  }

  /** Records how long an attempt at the webhook took. */
  ended(webhook: string, ms: number): void {
    const pace = this.#pace(webhook)
    pace.attemptMs += newestPart * (ms - pace.attemptMs)
  }

  /** Returns how long an attempt that finds the line full is postponed, in ms. */
  delay({ webhook }: AttemptOf): number {
    const pace = this.#pace(webhook)
    const everyMs = Math.max(pace.attemptMs, 1) / this.#parts.atOnce
    const now = this.#parts.steady()
    pace.away = Math.max(0, pace.away - (now - pace.at) / everyMs) + 1
    pace.at = now
    const ahead = pace.away + (this.#webhooks.get(webhook) ?? 0)
    const delay = Math.max(leastDelayMs, ahead * everyMs)
    if (delay <= mostDelayMs) return Math.round(delay)
    // at the maximum, attempts are spread at random over the second half
    return Math.round(mostDelayMs * (1 - this.#parts.random() / 2))
  }

  #pace(webhook: string): Pace {
    const known = this.#paces.get(webhook)
    this.#paces.delete(webhook)
    const pace = known ?? { attemptMs: usualAttemptMs, away: 0, at: this.#parts.steady() }
    this.#paces.set(webhook, pace)
    const [oldest] = this.#paces.keys()
    if (this.#paces.size > mostPaces && oldest !== undefined) this.#paces.delete(oldest)
    return pace
  }
}

const add = (counts: Map<string, number>, key: string, by: number): void => {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
