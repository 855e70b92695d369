import type { Logger } from 'pino'
import { type Commit, type CommitStore, StoreUnavailable } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { backoffMs, type Clock } from './clock.ts'
import { Elsewhere } from './commit/superseded.ts'
import type { Host } from './host.ts'
import type { Resident } from './resident.ts'
import { Rounds } from './rounds.ts'

const everyMs = 500
const pageSize = 500
/** So many pages are read in one look; the next look goes on from there. */
const pagesAtOnce = 4
/** So many actors are handed their reminders side by side. */
const atOnce = 32
/** An actor that does not take a reminder is left alone for so long, doubled each time up to the most, in ms. */
const againMs = 500
const mostAgainMs = 5 * 60_000
/** The same while the trouble is the store's: it is back for all at once. */
const mostStoreAgainMs = 2000
/** A parked actor is looked at again so seldom, in ms: a release looks at once. */
const parkedAgainMs = 60_000

/** An actor that did not take its reminders, and when it is tried again by the steady clock. */
interface Failure {
  readonly count: number
  readonly notBefore: number
}

/** A reminder that was not taken. */
export interface FailingReminder {
  readonly reminder: string
  /** How often in a row. */
  readonly count: number
  readonly error: unknown
}

/** What the clock of reminders needs. */
export interface ReminderClockParts {
  readonly host: Pick<Host, 'ownership' | 'loadFrom' | 'settler' | 'deliverTo'>
  readonly store: Pick<CommitStore, 'due'>
  readonly clock: Clock
  readonly log: Logger
  readonly telemetry?: Telemetry | undefined
  /** A reminder was refused for good as far as can be seen; it is tried again anyway. */
  readonly failing?: (resident: Resident, failing: FailingReminder) => void
  /** All that was due of an actor is taken, which had failed before. */
  readonly recovered?: (actor: string) => void
}

/**
 * Delivers reminders that are due, those of every actor in its turn. One that is not taken stays due; its actor is left
 * alone for longer each time, and holds up no other.
 */
export class ReminderClock {
  readonly #parts: ReminderClockParts
  readonly #failures = new Map<string, Failure>()
  readonly #rounds: Rounds
  /** Reminders due before this were looked at in this sweep, in ms since the epoch. */
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

  /** The actor may take its reminders now: it is tried at the next look. */
  release(actor: string): void {
    this.#failures.delete(actor)
  }

  /** One look at what is due. */
  async round(): Promise<void> {
    try {
      for (let page = 0; page < pagesAtOnce; page++) {
        if (await this.#page()) return
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'reminders not read, trying again')
    }
  }

  /** True when the sweep is over: the next page is the first one again. */
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
    // a page that is due at one instant has to be read past in one go
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

  /** Trouble with one actor is its own. */
  async #attempt(commit: Commit): Promise<void> {
    const { actor } = commit
    try {
      if ((await this.#deliver(commit)) && this.#failures.delete(actor)) this.#parts.recovered?.(actor)
    } catch (error) {
      if (error instanceof Elsewhere) return
      const failure = this.#failed(actor, error instanceof StoreUnavailable ? mostStoreAgainMs : mostAgainMs)
      this.#parts.log.warn({ actorId: actor, failures: failure.count, err: error }, 'reminders not delivered')
    }
  }

  #failed(actor: string, mostMs: number): Failure {
    const before = this.#failures.get(actor)?.count ?? 0
    const failure = { count: before + 1, notBefore: this.#parts.clock.steady() + backoffMs(before, againMs, mostMs) }
    this.#failures.set(actor, failure)
    return failure
  }

  /** False when the actor could not take something, and that is noted. @throws what the actor could not be loaded for. */
  async #deliver(commit: Commit): Promise<boolean> {
    const { host, clock } = this.#parts
    const resident = await host.loadFrom(commit.actor, commit.seq)
    // an actor that is behind is at work on this very commit, whose reminders are looked at again: only a newer one has them
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
    for (const [reminder, { due, event, n }] of Object.entries(resident.state.reminders)) {
      if (due > now) continue
      try {
        await host.deliverTo(resident, { event, cause: `${reminder}:${n}` })
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
    const { count } = this.#failed(actor, isStore ? mostStoreAgainMs : mostAgainMs)
    this.#parts.log.warn({ actorId: actor, reminder, failures: count, err: error }, 'reminder not taken')
    if (!isStore) this.#parts.failing?.(resident, { reminder, count, error })
  }
}
