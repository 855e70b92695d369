import type { CommitKey, CommitStore, SettleWork } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { Resident } from '../resident.ts'

/** Delay in ms: the later, the more of the commits are in pages that are written once. */
const everyMs = 1000
const maxConcurrent = 2000
/** Delay of the retry after a failure, in ms, and the maximum number of keys that wait for it. */
const againMs = 1000
const maxKept = 300_000

/**
 * Removes `open`, `due` and old snapshots from commits that are done, later and in batches. If this work is lost, only
 * the recovery sweep at the next start takes longer.
 */
export class Settler {
  readonly #store: CommitStore
  readonly #clock: Clock
  readonly #log: Logger
  #close: CommitKey[] = []
  #undue: CommitKey[] = []
  #retire: CommitKey[] = []
  #cancel: (() => void) | undefined

  constructor(store: CommitStore, clock: Clock, log: Logger) {
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  /**
   * Queues an actor's commits that are two steps old, once its messages are delivered: only their events are needed.
   */
  retire(resident: Pick<Resident, 'id' | 'retiring' | 'undelivered' | 'unfinished'>): void {
    const { id: actor, retiring, undelivered, unfinished } = resident
    if (undelivered > 0 || retiring.length === 0 || unfinished !== undefined) return
    for (const seq of retiring) this.#retire.push({ actor, seq })
    retiring.length = 0
    this.#plan()
  }

  /** Queues a commit to be closed: everything that it implies is done. */
  close(key: CommitKey): void {
    this.#close.push(key)
    this.#plan()
  }

  /** Queues a commit whose reminders a newer commit holds now. */
  undue(key: CommitKey): void {
    this.#undue.push(key)
    this.#plan()
  }

  /** Keeps work that failed for the next attempt, up to a bound; the rest is left to the next start. */
  #keep({ close, undue, retire }: SettleWork): void {
    const waiting = this.#close.length + this.#undue.length + this.#retire.length
    if (waiting + close.length + undue.length + retire.length > maxKept) return
    // not spread as arguments of `push`: so many would overflow the stack
    this.#close = close.concat(this.#close)
    this.#undue = undue.concat(this.#undue)
    this.#retire = retire.concat(this.#retire)
    this.#cancel ??= this.#clock.after(againMs, () => void this.flush())
  }

  /** Writes all queued work; what fails is retried. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const work = { close: this.#close, undue: this.#undue, retire: this.#retire }
    if (work.close.length + work.undue.length + work.retire.length === 0) return
    this.#close = []
    this.#undue = []
    this.#retire = []
    try {
      await this.#store.settle(work)
    } catch (error) {
      this.#log.warn(
        { commits: work.close.length + work.retire.length, err: error },
        'commits not settled, trying again',
      )
      this.#keep(work)
    }
  }

  #plan(): void {
    if (this.#close.length + this.#retire.length >= maxConcurrent) {
      void this.flush()
      return
    }
    this.#cancel ??= this.#clock.after(everyMs, () => void this.flush())
  }
}
