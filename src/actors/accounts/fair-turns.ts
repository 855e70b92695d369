import { ServiceError } from '#specs/errors/errors.ts'

/** Limits of costly work with many concurrent requests. */
export interface TurnLimits {
  readonly running: number
  /** Most requests waiting in one lane. */
  readonly perLane: number
  /** Most requests waiting in all lanes together. */
  readonly waiting: number
}

/**
 * Runs costly work with limited concurrency, and serves waiting lanes in turn. However many requests one client has
 * waiting, a request of another client waits for at most one of them per turn.
 */
export class FairTurns {
  readonly #limits: TurnLimits
  /** Waiting requests by lane; the next lane to serve is the first one. */
  readonly #lanes = new Map<string, (() => void)[]>()
  #running = 0
  #waiting = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** @throws {ServiceError} `rate_limit_exceeded` when too many requests wait, in this lane or in total. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.running) await this.#turn(lane)
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  /** Resolves once this request takes over the slot of one that has finished. */
  #turn(lane: string): Promise<void> {
    const waiting = this.#lanes.get(lane) ?? []
    const { perLane, waiting: most } = this.#limits
    if (waiting.length >= perLane || this.#waiting >= most)
      throw new ServiceError('rate_limit_exceeded', { retryAfterS: 1 })
    this.#lanes.set(lane, waiting)
    this.#waiting += 1
    return new Promise((resolve) => waiting.push(resolve))
  }

  #next(): void {
    const [first] = this.#lanes
    if (first === undefined) {
      this.#running -= 1
      return
    }
    const [lane, waiting] = first
    const start = waiting.shift()
    this.#waiting -= 1
    this.#lanes.delete(lane)
    if (waiting.length > 0) this.#lanes.set(lane, waiting)
    start?.()
  }
}
