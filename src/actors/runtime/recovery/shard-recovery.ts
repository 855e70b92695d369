import type { Storage } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { removeLate } from '../erasure/erased-actors.ts'
import type { Host } from '../host.ts'
import type { Logger } from '../logger.ts'
import { recover, recoverLate } from './recovery.ts'

/** Late work of a shard's former owner is looked for during this time, in ms (recovery.ts). */
const lateOverMs = 40_000
/** Late writes of removed actors are removed after this time, in ms: a former owner's writes have arrived by then. */
const removedMs = 32_000
/**
 * Maximum time that lists wait for rows that former owners left unwritten, in ms from when the shards were taken over.
 */
const rowsMs = 1500

/** Dependencies of `ShardRecovery`. */
export interface ShardRecoveryParts {
  readonly host: Host
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  /** Recovery starts when this resolves; at once when absent. */
  readonly serving?: Promise<void>
}

/**
 * Resumes the work that former owners of shards left unfinished, in the background of requests, as soon as this process
 * holds the shards and the store answers.
 */
export class ShardRecovery {
  readonly #parts: ShardRecoveryParts
  readonly #late = new Set<() => void>()
  /** Recoveries in progress, by shard. */
  readonly #underWay = new Map<number, Promise<void>>()
  /** What lists wait for, each until its recovery or the time limit ends. */
  readonly #rows = new Set<Promise<void>>()
  readonly #stop = new AbortController()

  constructor(parts: ShardRecoveryParts) {
    this.#parts = parts
  }

  /** Starts the recovery of shards. @param shards all when absent. */
  begin(shards?: readonly number[]): void {
    const taken = shards ?? this.#parts.host.ownership.space.all()
    const work = this.#takeUp(shards).finally(() => {
      for (const shard of taken) if (this.#underWay.get(shard) === work) this.#underWay.delete(shard)
    })
    for (const shard of taken) this.#underWay.set(shard, work)
    const rows = Promise.race([work, this.#patience()]).finally(() => this.#rows.delete(rows))
    this.#rows.add(rows)
  }

  /**
   * Resolves when the recovery of a shard has ended; undefined when none is in progress. Until then an actor that a
   * durable commit requested may not exist yet.
   */
  underWay(shard: number): Promise<void> | undefined {
    return this.#underWay.get(shard)
  }

  /** Resolves when rows that former owners left unwritten are written, or after a timeout; undefined for none. */
  rows(): Promise<void> | undefined {
    return this.#rows.size === 0 ? undefined : Promise.all(this.#rows).then(() => {})
  }

  /** `rows` combined with the rows that other processes still have to write. */
  rowsWith(elsewhere: Promise<void> | undefined): Promise<void> | undefined {
    const left = this.rows()
    return left === undefined ? elsewhere : Promise.all([left, elsewhere]).then(() => {})
  }

  /** Resolves when no recovery is in progress. */
  async over(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }

  /** Starts nothing more; the next owner recovers what is left. */
  stop(): void {
    this.#stop.abort()
    for (const cancel of this.#late) cancel()
  }

  async #patience(): Promise<void> {
    await this.#parts.serving
    await pause(this.#parts.clock, rowsMs)
  }

  async #takeUp(shards: readonly number[] | undefined): Promise<void> {
    const { host, clock, serving } = this.#parts
    await serving
    for (let attempt = 0, done = false; !done; attempt++) {
      const held = shards?.filter((shard) => host.ownership.heldUnder(shard) !== undefined)
      if (this.#stop.signal.aborted || held?.length === 0) return
      done = await this.#attempt(held)
      if (!done) await pause(clock, backoffMs(attempt, 250, 5000), this.#stop.signal)
    }
    if (this.#stop.signal.aborted) return
    const cancel = this.#recoverLate(shards)
    this.#late.add(cancel)
    clock.after(lateOverMs, () => this.#late.delete(cancel))
  }

  #recoverLate(shards: readonly number[] | undefined): () => void {
    const { clock } = this.#parts
    const cancels = [recoverLate(this.#partsFor(shards)), clock.after(removedMs, () => void this.#removeLate(shards))]
    return () => {
      for (const cancel of cancels) cancel()
    }
  }

  async #removeLate(shards: readonly number[] | undefined): Promise<void> {
    const { host, storage, clock, log } = this.#parts
    const isMine = (actor: string): boolean => {
      const shard = host.ownership.space.of(actor)
      return host.ownership.heldUnder(shard) !== undefined && (shards === undefined || shards.includes(shard))
    }
    for (let attempt = 0, done = false; !done && !this.#stop.signal.aborted; attempt++) {
      if (attempt > 0) await pause(clock, backoffMs(attempt, 250, 5000), this.#stop.signal)
      done = await removeLate({ storage, clock, isMine }).then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error }, 'late writes of removed actors not looked for, trying again')
          return false
        },
      )
    }
  }

  async #attempt(shards: readonly number[] | undefined): Promise<boolean> {
    try {
      await recover(this.#partsFor(shards))
      return true
    } catch (error) {
      this.#parts.log.warn({ shards: shards?.length, err: error }, 'open work of shards not taken up, trying again')
      return false
    }
  }

  #partsFor(shards: readonly number[] | undefined) {
    const { storage, ...parts } = this.#parts
    return { ...parts, store: storage.commits, signal: this.#stop.signal, ...(shards && { shards }) }
  }
}
