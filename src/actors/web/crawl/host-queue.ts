import { randomUUID } from 'node:crypto'
import type { Clock } from '#runtime/index.ts'
import type { SharedTurns, TurnRule } from '#storage/index.ts'

/** Outcome of waiting for a turn. */
export type Turn =
  | { readonly kind: 'taken'; readonly leave: () => void }
  /** The host requested a pause, `ms` from now. */
  | { readonly kind: 'postponed'; readonly ms: number }
  /** The turn would begin too late. */
  | { readonly kind: 'late' }

/** A request that waits for its turn at a host. */
export interface Waiter {
  /** Crawl to which the request belongs. */
  readonly job: string
  readonly rule: TurnRule
  /** `steady` time after which it is too late. */
  readonly until: number
  readonly settle: (turn: Turn) => void
}

/** Time in ms that requests wait for a host that requested a pause; beyond it, they are given back to their crawl. */
const patienceMs = 1_000
/** Time in ms after which a turn that was refused is attempted again; turns of other nodes end without notice. */
const pollMs = 100

/** Requests of this process that wait for their turns at one host. The crawls are served in rotation. */
export class HostQueue {
  readonly #host: string
  readonly #turns: SharedTurns
  readonly #clock: Clock
  /** Waiting requests by crawl; the crawl whose turn is next comes first. */
  readonly #jobs = new Map<string, Waiter[]>()
  #isServing = false
  #wake: () => void = () => {}

  constructor(host: string, { turns, clock }: { readonly turns: SharedTurns; readonly clock: Clock }) {
    this.#host = host
    this.#turns = turns
    this.#clock = clock
  }

  /** Whether no request is waiting. */
  get isEmpty(): boolean {
    return this.#jobs.size === 0
  }

  add(waiter: Waiter): void {
    const waiting = this.#jobs.get(waiter.job)
    if (waiting === undefined) this.#jobs.set(waiter.job, [waiter])
    else waiting.push(waiter)
  }

  /** Removes a request that no longer waits. */
  remove(waiter: Waiter): void {
    const waiting = (this.#jobs.get(waiter.job) ?? []).filter((each) => each !== waiter)
    if (waiting.length === 0) this.#jobs.delete(waiter.job)
    else this.#jobs.set(waiter.job, waiting)
    this.#wake()
  }

  /** Gives turns until no request waits. Only one call at a time does the work. */
  async serve(): Promise<void> {
    if (this.#isServing) return
    this.#isServing = true
    try {
      for (let next = this.#next(); next !== null; next = this.#next()) await this.#attempt(next)
    } finally {
      this.#isServing = false
    }
  }

  async #attempt({ rule }: Waiter): Promise<void> {
    const holder = randomUUID()
    const { taken, waitMs, postponed } = await this.#turns.take(this.#host, holder, rule)
    if (taken) {
      const leave = (): void => void this.#turns.giveBack(this.#host, holder).then(() => this.#wake())
      // the request for which the turn was taken may have gone in the meantime
      const waiter = this.#next()
      if (waiter === null) return leave()
      this.#settle(waiter, { kind: 'taken', leave })
    } else if (postponed && waitMs > patienceMs) {
      for (const waiter of [...this.#jobs.values()].flat()) this.#settle(waiter, { kind: 'postponed', ms: waitMs })
    } else await this.#pause(Math.min(Math.max(1, waitMs), pollMs))
  }

  /** Returns the next request, and settles those that are too late. */
  #next(): Waiter | null {
    const now = this.#clock.steady()
    for (const waiter of [...this.#jobs.values()].flat())
      if (waiter.until <= now) this.#settle(waiter, { kind: 'late' })
    const [first] = this.#jobs.values()
    return first?.[0] ?? null
  }

  #settle(waiter: Waiter, turn: Turn): void {
    const rest = (this.#jobs.get(waiter.job) ?? []).filter((each) => each !== waiter)
    this.#jobs.delete(waiter.job)
    if (rest.length > 0) this.#jobs.set(waiter.job, rest)
    waiter.settle(turn)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
