import { ServiceError } from '#specs/errors/errors.ts'

/** Bounds of work that many request at once. */
export interface TurnLimits {
  readonly running: number
  /** Waiting in one lane. */
  readonly perLane: number
  /** Waiting in all of them. */
  readonly waiting: number
}

/**
 * Runs costly work a few at a time, and the lanes that wait in turn: however many requests one client has waiting, those of
 * another wait for one of them at most.
 */
export class FairTurns {
  readonly #limits: TurnLimits
  /** What waits by its lane; the lane whose turn is next stands first. */
  readonly #lanes = new Map<string, (() => void)[]>()
  #running = 0
  #waiting = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** @throws {ServiceError} `rate_limit_exceeded` when too much of the same lane waits, or too much of all. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.running) await this.#turn(lane)
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  /** Resolves with the place of one that has finished. */
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
