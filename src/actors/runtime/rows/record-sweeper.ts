import type { RecordKind, RecordStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { Rounds } from '../rounds.ts'

const everyMs = 10 * 60 * 1000
const atOnce = 200

/** Dependencies of `RecordSweeper`, and the kinds of records that expire. */
export interface RecordSweeperParts {
  readonly records: RecordStore
  readonly kinds: readonly RecordKind[]
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Removes records that have expired: idempotency keys, dashboard sessions, rows of deleted actors. Expired records are
 * hidden at once; the sweep frees their space.
 */
export class RecordSweeper {
  readonly #records: RecordStore
  readonly #kinds: readonly RecordKind[]
  readonly #clock: Clock
  readonly #log: Logger
  readonly #rounds: Rounds

  constructor({ records, kinds, clock, log }: RecordSweeperParts) {
    this.#records = records
    this.#kinds = kinds.filter(({ due }) => due === undefined)
    this.#clock = clock
    this.#log = log
    this.#rounds = new Rounds({ clock, everyMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** Sweeps every kind once; a kind that fails is left to the next sweep. */
  async round(): Promise<void> {
    for (const kind of this.#kinds) {
      try {
        const removed = await this.#sweep(kind)
        if (removed > 0) this.#log.debug({ kind: kind.name, removed }, 'expired records removed')
      } catch (error) {
        this.#log.warn({ kind: kind.name, err: error }, 'expired records not removed')
      }
    }
  }

  /**
   * Removes expired records in batches: an embedded store blocks other callers meanwhile, and a busy gateway leaves
   * many records a minute.
   */
  async #sweep(kind: RecordKind): Promise<number> {
    for (let all = 0; ; ) {
      const removed = await this.#records.sweep(kind, this.#clock.now(), atOnce)
      all += removed
      if (removed < atOnce || this.#rounds.stopped) return all
      await new Promise<void>((resolve) => this.#clock.soon(resolve))
    }
  }
}
