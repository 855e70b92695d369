import type { Logger } from 'pino'
import type { CommitKey, CommitStore, SettleWork } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Resident } from '../resident.ts'

const everyMs = 200
const mostAtOnce = 2000
/** After trouble the next attempt comes so much later, in ms; so many keys wait for it at most. */
const againMs = 1000
const mostKept = 300_000

/**
 * Takes `open`, `due` and old snapshots off commits that are done, late and in batches. Losing this work costs a
 * longer sweep at the next start and nothing else.
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
   * Takes an actor's commits that are two steps behind, once all that it has sent is taken: nothing of them is needed but
   * their events.
   */
  retire(resident: Pick<Resident, 'id' | 'retiring' | 'undelivered' | 'unfinished'>): void {
    const { id: actor, retiring, undelivered, unfinished } = resident
    if (undelivered > 0 || retiring.length === 0 || unfinished !== undefined) return
    for (const seq of retiring) this.#retire.push({ actor, seq })
    retiring.length = 0
    this.#plan()
  }

  /** Everything that this commit implies is done. */
  close(key: CommitKey): void {
    this.#close.push(key)
    this.#plan()
  }

  /** A newer commit carries the reminders now. */
  undue(key: CommitKey): void {
    this.#undue.push(key)
    this.#plan()
  }

  /** What could not be settled is tried again with the next work, up to a bound; the rest is left to the next start. */
  #keep({ close, undue, retire }: SettleWork): void {
    const waiting = this.#close.length + this.#undue.length + this.#retire.length
    if (waiting + close.length + undue.length + retire.length > mostKept) return
    // not as arguments of a call: so many overflow its stack
    this.#close = close.concat(this.#close)
    this.#undue = undue.concat(this.#undue)
    this.#retire = retire.concat(this.#retire)
    this.#cancel ??= this.#clock.after(againMs, () => void this.flush())
  }

  /** Writes what waits; what the store does not take is tried again. */
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
    if (this.#close.length + this.#retire.length >= mostAtOnce) {
      void this.flush()
      return
    }
    this.#cancel ??= this.#clock.after(everyMs, () => void this.flush())
  }
}
