import { ServiceError } from '#specs/errors/errors.ts'

/** Limits of costly work with many concurrent requests. */
export interface TurnLimits {
  readonly running: number
  /** Most of them in one lane; default: all. */
  readonly runningPerLane?: number
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
  readonly #perLane: number
  /** Waiting requests by lane; the next lane to serve is the first one that may run more. */
  readonly #lanes = new Map<string, (() => void)[]>()
  /** Number of running requests by lane. */
  readonly #runningIn = new Map<string, number>()
  #running = 0
  #waiting = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
    this.#perLane = limits.runningPerLane ?? limits.running
  }

  /**
   * @param signal ends the waiting for a turn.
   * @throws {ServiceError} `rate_limit_exceeded` when too many requests wait, in this lane or in total; and the reason of
   *   `signal`.
   */
  async run<T>(lane: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#mayRun(lane)) this.#begin(lane)
    else await this.#turn(lane, signal)
    try {
      return await work()
    } finally {
      this.#end(lane)
    }
  }

  #mayRun(lane: string): boolean {
    return this.#running < this.#limits.running && (this.#runningIn.get(lane) ?? 0) < this.#perLane
  }

  #begin(lane: string): void {
    this.#running += 1
    this.#runningIn.set(lane, (this.#runningIn.get(lane) ?? 0) + 1)
  }

  #end(lane: string): void {
    this.#running -= 1
    const left = (this.#runningIn.get(lane) ?? 0) - 1
    if (left > 0) this.#runningIn.set(lane, left)
    else this.#runningIn.delete(lane)
    this.#next()
  }

  /** Resolves once this request has begun. */
  #turn(lane: string, signal: AbortSignal | undefined): Promise<void> {
    const waiting = this.#lanes.get(lane) ?? []
    const { perLane, waiting: most } = this.#limits
    if (waiting.length >= perLane || this.#waiting >= most)
      throw new ServiceError('rate_limit_exceeded', { retryAfterS: 1 })
    this.#lanes.set(lane, waiting)
    this.#waiting += 1
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const start = (): void => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = (): void => {
      this.#leave(lane, start)
      reject(signal?.reason)
    }
    waiting.push(start)
    signal?.addEventListener('abort', leave, { once: true })
    return promise
  }

  #leave(lane: string, start: () => void): void {
    const waiting = this.#lanes.get(lane)
    const at = waiting?.indexOf(start) ?? -1
    if (waiting === undefined || at === -1) return
    waiting.splice(at, 1)
    this.#waiting -= 1
    if (waiting.length === 0) this.#lanes.delete(lane)
  }

  #next(): void {
    const found = [...this.#lanes.keys()].find((lane) => this.#mayRun(lane))
    const waiting = found === undefined ? undefined : this.#lanes.get(found)
    if (found === undefined || waiting === undefined) return
    const start = waiting.shift()
    this.#waiting -= 1
    this.#lanes.delete(found)
    if (waiting.length > 0) this.#lanes.set(found, waiting)
    this.#begin(found)
    start?.()
  }
}
