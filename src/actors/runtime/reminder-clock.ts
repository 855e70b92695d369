import type { Logger } from 'pino'
import type { Commit, CommitStore } from '../../storage/ports.ts'
import type { Clock } from './clock.ts'
import type { Host } from './host.ts'

const everyMs = 500
const mostAtOnce = 500

/** Delivers reminders that are due. One whose delivery fails stays due, and is tried again at the next look. */
export class ReminderClock {
  readonly #host: Host
  readonly #store: CommitStore
  readonly #clock: Clock
  readonly #log: Logger
  #cancel: (() => void) | undefined

  constructor(host: Host, store: CommitStore, clock: Clock, log: Logger) {
    this.#host = host
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#cancel = this.#clock.after(everyMs, () => void this.round().finally(() => this.start()))
  }

  stop(): void {
    this.#cancel?.()
    this.start = () => {}
  }

  /** One look at what is due. */
  async round(): Promise<void> {
    try {
      const { shards } = this.#host.ownership
      if (shards?.length === 0) return
      const due = await this.#store.due(this.#clock.now(), mostAtOnce, shards)
      for (const commit of due) await this.#attempt(commit)
    } catch (error) {
      this.#log.warn({ err: error }, 'reminders not read, trying again')
    }
  }

  /** Trouble with one actor must not hold up the others. */
  async #attempt(commit: Commit): Promise<void> {
    try {
      await this.#deliver(commit)
    } catch (error) {
      this.#log.warn({ actorId: commit.actor, err: error }, 'reminders not delivered, trying again')
    }
  }

  async #deliver(commit: Commit): Promise<void> {
    const resident = await this.#host.loadFrom(commit.actor, commit.seq)
    // a host that is behind the store knows nothing of this commit's reminders, and must leave them
    if (resident !== null && resident.state.seq < commit.seq) return
    if (resident === null || resident.state.seq > commit.seq) {
      this.#host.settler.undue({ actor: commit.actor, seq: commit.seq })
      return
    }
    const now = this.#clock.now()
    for (const [name, reminder] of Object.entries(resident.state.reminders)) {
      if (reminder.due > now) continue
      try {
        await this.#host.tell(resident, { event: reminder.event, cause: `${name}:${reminder.n}` })
      } catch (error) {
        this.#log.warn({ actorId: commit.actor, reminder: name, err: error }, 'reminder not taken, trying again')
      }
    }
  }
}
