/** Undelivered messages for one receiver. */
interface Backlog {
  count: number
  isParked: boolean
}

/**
 * Undelivered messages of this process, counted by receiver. Those for a parked actor wait for an operator, not for this
 * process: they count for its senders only, so that one actor cannot have requests of others refused.
 */
export class Backlogs {
  readonly #waiting = new Map<string, Backlog>()
  #size = 0

  /** Number of messages, without those for parked actors. */
  get size(): number {
    return this.#size
  }

  /** Number of messages for a receiver. */
  of(to: string): number {
    return this.#waiting.get(to)?.count ?? 0
  }

  isParked(to: string): boolean {
    return this.#waiting.get(to)?.isParked === true
  }

  add(to: string): void {
    const backlog = this.#waiting.get(to) ?? { count: 0, isParked: false }
    this.#waiting.set(to, backlog)
    backlog.count++
    if (!backlog.isParked) this.#size++
  }

  remove(to: string): void {
    const backlog = this.#waiting.get(to)
    if (backlog === undefined) return
    if (!backlog.isParked) this.#size--
    if (--backlog.count === 0) this.#waiting.delete(to)
  }

  /** Notes whether the receiver refused the newest attempt because it is parked. */
  note(to: string, isParked: boolean): void {
    const backlog = this.#waiting.get(to)
    if (backlog === undefined || backlog.isParked === isParked) return
    backlog.isParked = isParked
    this.#size += isParked ? -backlog.count : backlog.count
  }
}
