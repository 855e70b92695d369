import type { CommitStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { Rounds } from '../rounds.ts'
import { guardedCommits } from './guarded-commits.ts'
import { Superseded } from './superseded.ts'

/** Interval at which a process checks that no later one has started, in ms. */
const everyMs = 1000
/**
 * When the last successful check is older than this (after a stall, or an outage of the store), the process checks
 * again before it writes, in ms.
 */
const certainMs = 2500

/** Dependencies of `EpochWatch`. */
export interface EpochWatchParts {
  readonly epoch: number
  /** The newest epoch that any process took. @throws {StoreUnavailable} */
  readonly newest: () => Promise<number>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Detects that a later process has taken over. The fence stops a replaced process at each actor that the later process
 * has touched. This watch stops it everywhere else, above all at actors whose log the later process has removed.
 */
export class EpochWatch {
  readonly #parts: EpochWatchParts
  readonly #replaced = Promise.withResolvers<void>()
  #isReplaced = false
  #certainAt: number
  #confirming: Promise<void> | undefined
  readonly #rounds: Rounds

  constructor(parts: EpochWatchParts) {
    this.#parts = parts
    this.#certainAt = parts.clock.steady()
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.#check() })
  }

  /** Resolves when a later process has started. */
  get replaced(): Promise<void> {
    return this.#replaced.promise
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** Wraps the store so that this process no longer writes once it was replaced. */
  guarded(commits: CommitStore): CommitStore {
    const append: CommitStore['append'] = (batch) => {
      if (this.#isCertain()) return commits.append(batch)
      return this.#confirm().then(
        () => this.#appendIfOwner(commits, batch),
        () => batch.map(() => 'unknown' as const),
      )
    }
    return guardedCommits(commits, append)
  }

  #appendIfOwner(commits: CommitStore, batch: Parameters<CommitStore['append']>[0]): ReturnType<CommitStore['append']> {
    if (this.#isReplaced) throw new Superseded('a later process has taken over')
    return commits.append(batch)
  }

  #isCertain(): boolean {
    return !this.#isReplaced && this.#parts.clock.steady() - this.#certainAt <= certainMs
  }

  async #check(): Promise<void> {
    await this.#confirm().catch((error: unknown) =>
      this.#parts.log.warn({ err: error }, 'epoch not confirmed, trying again'),
    )
  }

  #confirm(): Promise<void> {
    this.#confirming ??= this.#compare().finally(() => {
      this.#confirming = undefined
    })
    return this.#confirming
  }

  async #compare(): Promise<void> {
    const { epoch, newest, clock, log } = this.#parts
    const sentAt = clock.steady()
    if (this.#isReplaced || (await newest()) <= epoch) {
      this.#certainAt = sentAt
      return
    }
    this.#isReplaced = true
    log.error({ epoch }, 'a later process has taken over')
    this.#replaced.resolve()
  }
}
