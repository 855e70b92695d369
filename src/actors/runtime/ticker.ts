/** Member of a `Ticker`, called at every tick. It can belong to one ticker at a time. */
export interface Ticking {
  tick(): void
  /** Called when `tick` threw: ends the member, which the ticker has already removed. */
  fail(error: unknown): void
  /** Its index in the ticker's list; -1 when it is not a member. Written only by `Ticker`. */
  place: number
}

/** Calls `run` every `ms`; the returned function stops it. */
export type Every = (ms: number, run: () => void) => () => void

const byInterval: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref()
  return () => clearInterval(timer)
}

/** Tick length in ms for time limits of `shortestMs` or more: each limit is kept to within one tick. */
export const tickMsFor = (shortestMs: number): number => Math.min(1000, Math.max(5, shortestMs / 4))

/**
 * One timer shared by many members. A member measures durations by counting ticks, so that nothing reads a clock or
 * sets a timer per event. The timer stops at the first tick without members, and does not keep the process alive.
 *
 * Members are in a list and not in a `Set`: a busy set leaves behind a chain of replaced hash tables, each of which
 * keeps its entries alive until a full collection. Half of all objects that requests created outlived them that way.
 */
export class Ticker<Member extends Ticking = Ticking> {
  readonly #ms: number
  readonly #every: Every
  readonly #members: Member[] = []
  #stop: (() => void) | null = null

  constructor(ms: number, every: Every = byInterval) {
    this.#ms = ms
    this.#every = every
  }

  /** Number of ticks that last at least `ms`. */
  ticks(ms: number): number {
    return Math.ceil(ms / this.#ms) + 1
  }

  /** Its members at this moment. */
  get members(): readonly Member[] {
    return [...this.#members]
  }

  add(member: Member): void {
    if (member.place >= 0) return
    member.place = this.#members.push(member) - 1
    this.#stop ??= this.#every(this.#ms, () => this.#tick())
  }

  /** Removes a member; the last member moves to its place. */
  delete(member: Member): void {
    const { place } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  #tick(): void {
    // a member may remove itself and others during its tick
    for (const member of this.members) if (member.place >= 0) this.#visit(member)
    if (this.#members.length > 0) return
    this.#stop?.()
    this.#stop = null
  }

  /** One timer serves many connections: an error in one of them ends only that one. */
  #visit(member: Member): void {
    try {
      member.tick()
    } catch (error) {
      this.delete(member)
      member.fail(error)
    }
  }
}
