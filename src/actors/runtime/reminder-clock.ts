import { type Commit, type CommitStore, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock } from './clock.ts'
import { NotOwner } from './commit/superseded.ts'
import type { Host } from './host.ts'
import type { HostTelemetry } from './host-telemetry.ts'
import type { Logger } from './logger.ts'
import type { Resident } from './resident.ts'
import { Rounds } from './rounds.ts'

const everyMs = 500
const pageSize = 500
/** Pages read per round; the next round continues from there. */
const pagesAtOnce = 4
/** Number of actors whose reminders are delivered concurrently. */
const atOnce = 32
/** Initial and maximum back-off for an actor that fails to process a reminder, in ms; it doubles with each failure. */
const againMs = 500
const maxRetryMs = 5 * 60_000
/** Maximum back-off while the store fails, in ms: short, because it recovers for all actors at once. */
const maxStoreRetryMs = 2000
/** Retry interval for a parked actor, in ms; when it is released, it is retried in the next round. */
const parkedAgainMs = 60_000

/** Consecutive failures of an actor, and the earliest time of the next attempt by the steady clock, in ms. */
interface Failure {
  readonly count: number
  readonly notBefore: number
}

/** A reminder that could not be delivered. */
export interface FailingReminder {
  readonly reminder: string
  /** Number of consecutive failures. */
  readonly count: number
  readonly error: unknown
}

/** Dependencies of `ReminderClock`. */
export interface ReminderClockParts {
  readonly host: Pick<Host, 'ownership' | 'loadFrom' | 'settler' | 'deliverHere'>
  readonly store: Pick<CommitStore, 'due'>
  readonly clock: Clock
  readonly log: Logger
  readonly telemetry?: HostTelemetry | undefined
  /** Called when a reminder failed for another reason than the store; it is retried anyway. */
  readonly failing?: (resident: Resident, failing: FailingReminder) => void
  /** Called when all due reminders of an actor that had failed before were delivered. */
  readonly recovered?: (actor: string) => void
}

/**
 * Delivers the reminders that are due, actor by actor. A reminder that fails stays due; its actor is retried with
 * increasing delay, and does not hold up others.
 */
export class ReminderClock {
  readonly #parts: ReminderClockParts
  readonly #failures = new Map<string, Failure>()
  readonly #rounds: Rounds
  /** Reminders due before this have been handled in the current sweep, in ms since the epoch. */
  #from = 0
  #limit = pageSize

  constructor(parts: ReminderClockParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** Resets the back-off of an actor, so that it is retried in the next round. */
  release(actor: string): void {
    this.#failures.delete(actor)
  }

  /** Delivers what is due, at most `pagesAtOnce` pages. */
  async round(): Promise<void> {
    try {
      for (let page = 0; page < pagesAtOnce; page++) {
        if (await this.#page()) return
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'reminders not read, trying again')
    }
  }

  /** Returns true when the sweep is complete: the next page is the first one again. */
  async #page(): Promise<boolean> {
    const { host, store, clock } = this.#parts
    const { shards } = host.ownership
    if (shards?.length === 0) return true
    const due = await store.due({ now: clock.now(), from: this.#from, limit: this.#limit, ...(shards && { shards }) })
    await this.#deliverAll(due)
    const last = due.at(-1)?.due ?? null
    if (due.length < this.#limit || last === null) {
      this.#from = 0
      this.#limit = pageSize
      return true
    }
    // when a whole page is due at the same ms, the page has to grow for the sweep to get past it
    this.#limit = last === this.#from ? this.#limit * 2 : pageSize
    this.#from = last
    return false
  }

  async #deliverAll(due: readonly Commit[]): Promise<void> {
    const now = this.#parts.clock.steady()
    const ready = due.filter(({ actor }) => (this.#failures.get(actor)?.notBefore ?? 0) <= now)
    for (let first = 0; first < ready.length; first += atOnce) {
      await Promise.all(ready.slice(first, first + atOnce).map((commit) => this.#attempt(commit)))
    }
  }

  /** Delivers the reminders of one actor; a failure does not affect others. */
  async #attempt(commit: Commit): Promise<void> {
    const { actor } = commit
    try {
      if ((await this.#deliver(commit)) && this.#failures.delete(actor)) this.#parts.recovered?.(actor)
    } catch (error) {
      if (error instanceof NotOwner) return
      const failure = this.#failed(actor, error instanceof StoreUnavailable ? maxStoreRetryMs : maxRetryMs)
      this.#parts.log.warn({ actorId: actor, failures: failure.count, err: error }, 'reminders not delivered')
    }
  }

  #failed(actor: string, maxMs: number): Failure {
    const before = this.#failures.get(actor)?.count ?? 0
    const failure = { count: before + 1, notBefore: this.#parts.clock.steady() + backoffMs(before, againMs, maxMs) }
    this.#failures.set(actor, failure)
    return failure
  }

  /**
   * Returns false when a reminder failed or the actor is parked, which is then noted.
   * @throws when the actor cannot be loaded.
   */
  async #deliver(commit: Commit): Promise<boolean> {
    const { host, clock } = this.#parts
    const resident = await host.loadFrom(commit.actor, commit.seq)
    // the state in memory is newer: that commit holds the reminders, so this one is no longer due. A state that is
    // older is just processing this commit, which comes up again.
    if (resident === null || resident.state.seq > commit.seq) {
      host.settler.undue({ actor: commit.actor, seq: commit.seq })
      return true
    }
    if (resident.parked !== undefined) {
      this.#failures.set(commit.actor, { count: 0, notBefore: clock.steady() + parkedAgainMs })
      return false
    }
    const now = clock.now()
    let taken = true
    const reminders = Object.entries(resident.state.reminders).sort(([, one], [, other]) => one.due - other.due)
    for (const [reminder, { due, event, n }] of reminders) {
      if (due > now) continue
      try {
        // another process that holds the actor by now delivers it itself
        await host.deliverHere(commit.actor, { event, cause: `${reminder}:${n}`, reminder: { name: reminder, n } })
        this.#parts.telemetry?.metrics.reminderLag.record(now - due)
      } catch (error) {
        taken = false
        this.#refused(resident, reminder, error)
      }
    }
    return taken
  }

  #refused(resident: Resident, reminder: string, error: unknown): void {
    const { id: actor } = resident
    const isStore = error instanceof StoreUnavailable
    const { count } = this.#failed(actor, isStore ? maxStoreRetryMs : maxRetryMs)
    this.#parts.log.warn({ actorId: actor, reminder, failures: count, err: error }, 'reminder not taken')
    if (!isStore) this.#parts.failing?.(resident, { reminder, count, error })
  }
}
