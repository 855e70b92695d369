/** Something that is looked after now and then. */
export interface Watched {
  tick(): void
}

/**
 * One timer for all calls in flight: each counts ticks, so that no byte reads a clock and no call sets a timer of its own.
 * A limit is kept to within one tick. The timer ends at the first tick that finds nobody; it keeps no process alive.
 */
export class Deadlines {
  readonly #tickMs: number
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | null = null

  /** @param shortestMs the shortest of the limits that are kept by it. */
  constructor(shortestMs: number) {
    this.#tickMs = Math.min(1000, Math.max(5, shortestMs / 4))
  }

  /** So many ticks are at least `ms`. */
  ticks(ms: number): number {
    return Math.ceil(ms / this.#tickMs) + 1
  }

  add(watched: Watched): void {
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched)
  }

  #tick(): void {
    for (const each of this.#watched) each.tick()
    if (this.#watched.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
