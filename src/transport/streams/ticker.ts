/** Something that is looked after now and then. */
export interface Ticking {
  tick(): void
  /** Its tick threw: ends it. It is not visited any more. */
  fail(error: unknown): void
}

/** Calls `run` every `ms`; the answer ends it. */
export type Every = (ms: number, run: () => void) => () => void

const byInterval: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref()
  return () => clearInterval(timer)
}

/**
 * One timer for many members: each counts ticks where it needs to know how long something has lasted, so that nothing
 * reads a clock or sets a timer per event. The timer runs only while there are members, and keeps no process alive.
 */
export class Ticker {
  readonly #ms: number
  readonly #every: Every
  readonly #members = new Set<Ticking>()
  #stop: (() => void) | null = null

  constructor(ms: number, every: Every = byInterval) {
    this.#ms = ms
    this.#every = every
  }

  add(member: Ticking): void {
    this.#members.add(member)
    this.#stop ??= this.#every(this.#ms, () => this.#tick())
  }

  delete(member: Ticking): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return
    this.#stop?.()
    this.#stop = null
  }

  #tick(): void {
    for (const member of this.#members) this.#visit(member)
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
