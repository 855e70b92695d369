import type { AttemptOf } from './attempt-gate.ts'

/** Attempts that wait for their turn in memory; those beyond wait in the store. */
export interface LineLimits {
  readonly ofWebhook: number
  readonly ofProject: number
  readonly ofNode: number
}

/** What lines are made with. */
export interface LineParts {
  readonly limits: LineLimits
  /** Attempts of one webhook that run at a time. */
  readonly atOnce: number
  /** In ms, of a clock that only rises. */
  readonly steady: () => number
  /** In [0, 1). */
  readonly random: () => number
}

/** A postponed attempt comes back after this time at the earliest and at the latest, in ms. */
const leastDelayMs = 1_000
const mostDelayMs = 60 * 60_000
/** An endpoint of which nothing is known is taken for one that answers within this time, in ms. */
const usualAttemptMs = 1_000
/** The newest attempt counts for this part of what is known of an endpoint. */
const newestPart = 0.2
/** Endpoints whose pace is remembered. */
const mostPaces = 10_000

/** How fast an endpoint answers, and how many of its attempts were sent away and have not come back. */
interface Pace {
  attemptMs: number
  away: number
  /** When `away` was counted. */
  at: number
}

/**
 * How many attempts wait, and when those that find the line full come back: each at the time at which its turn comes as the
 * endpoint answers now, so that they neither meet all at once nor return in vain for as long as it is slow.
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

  /** Attempts that wait. */
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

  /** An attempt at the webhook took so long. */
  ended(webhook: string, ms: number): void {
    const pace = this.#pace(webhook)
    pace.attemptMs += newestPart * (ms - pace.attemptMs)
  }

  /** How long an attempt that finds no place in the line stays away, in ms. */
  delay({ webhook }: AttemptOf): number {
    const pace = this.#pace(webhook)
    const everyMs = Math.max(pace.attemptMs, 1) / this.#parts.atOnce
    const now = this.#parts.steady()
    pace.away = Math.max(0, pace.away - (now - pace.at) / everyMs) + 1
    pace.at = now
    const ahead = pace.away + (this.#webhooks.get(webhook) ?? 0)
    const delay = Math.max(leastDelayMs, ahead * everyMs)
    if (delay <= mostDelayMs) return Math.round(delay)
    // there is no time of its own for each: they are spread
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
