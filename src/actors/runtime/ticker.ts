/** Something that is visited at every tick. A member of one ticker at a time. */
export interface Ticking {
  tick(): void
  /** Its tick threw: ends it. It is not visited any more. */
  fail(error: unknown): void
  /** Its index among the members; -1 when it is none. Written by `Ticker` alone. */
  place: number
}

/** Calls `run` every `ms`; the answer ends it. */
export type Every = (ms: number, run: () => void) => () => void

const byInterval: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref()
  return () => clearInterval(timer)
}

/** How long a tick is for limits of `shortestMs` and more: each is kept to within one tick. */
export const tickMsFor = (shortestMs: number): number => Math.min(1000, Math.max(5, shortestMs / 4))

/**
 * One timer for many members: each counts ticks where it needs to know how long something has lasted, so that nothing
 * reads a clock or sets a timer per event. The timer ends at the first tick that finds no members, and keeps no process
 * alive.
 *
 * A list and no `Set`: the tables that a busy set leaves behind are chained, and each keeps what was in it when it was
 * replaced alive until a full collection. Half of all that requests made outlived them that way.
 */
export class Ticker {
  readonly #ms: number
  readonly #every: Every
  readonly #members: Ticking[] = []
  #stop: (() => void) | null = null

  constructor(ms: number, every: Every = byInterval) {
    this.#ms = ms
    this.#every = every
  }

  /** So many ticks are at least `ms`. */
  ticks(ms: number): number {
    return Math.ceil(ms / this.#ms) + 1
  }

  add(member: Ticking): void {
    if (member.place >= 0) return
    member.place = this.#members.push(member) - 1
    this.#stop ??= this.#every(this.#ms, () => this.#tick())
  }

  /** The last takes the place of the one that leaves. */
  delete(member: Ticking): void {
    const { place } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  #tick(): void {
    // a member that is visited may leave, and take others along
    for (const member of [...this.#members]) if (member.place >= 0) this.#visit(member)
    if (this.#members.length > 0) return
    this.#stop?.()
    this.#stop = null
  }

  /** One timer serves many connections: what one of them throws ends that one. */
  #visit(member: Ticking): void {
    try {
      member.tick()
    } catch (error) {
      this.delete(member)
      member.fail(error)
    }
  }
}
