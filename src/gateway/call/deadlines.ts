/** Something that is looked after now and then. */
export interface Watched {
  tick(): void
  /** Where it stands among those that are watched; -1 when it is not. Written by `Deadlines` alone. */
  place: number
}

/**
 * One timer for all calls in flight: each counts ticks, so that no byte reads a clock and no call sets a timer of its own.
 * A limit is kept to within one tick. The timer ends at the first tick that finds nobody; it keeps no process alive.
 *
 * A list and no `Set`: the tables that a busy set leaves behind are chained, and each keeps what was in flight when it was
 * replaced alive until a full collection. Half of all that requests made outlived them that way.
 */
export class Deadlines {
  readonly #tickMs: number
  readonly #watched: Watched[] = []
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
    if (watched.place >= 0) return
    watched.place = this.#watched.push(watched) - 1
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  /** The last takes the place of the one that leaves. */
  delete(watched: Watched): void {
    const { place } = watched
    if (place < 0) return
    watched.place = -1
    const last = this.#watched.pop()
    if (last === undefined || last === watched) return
    this.#watched[place] = last
    last.place = place
  }

  #tick(): void {
    // who is told may leave, and take others along
    for (const each of [...this.#watched]) if (each.place >= 0) each.tick()
    if (this.#watched.length > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
