import type { Lease } from '#storage/cluster-ports.ts'
import type { CommitStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { guardedCommits } from '../commit/guarded-commits.ts'
import { Elsewhere } from '../commit/superseded.ts'
import type { Ownership } from '../recovery/ownership.ts'
import { shardCount } from '../recovery/shard.ts'
import { overlapMs } from '../recovery/sole-owner.ts'

/** How long a lease is good for by the store's clock, in ms (specs/decisions/0064-cluster.md). */
export const leaseMs = 4000
/** A process stops itself so long before that, in ms. */
export const marginMs = 1000
/** A process that has not renewed for so long may lose its leases early, when the directory does not know it either, in ms. */
export const renewedMs = 1500
/** A process says nothing from memory after that, less what the answer to a renewal takes, in ms. */
const freshMs = renewedMs - 100

/**
 * The shards that this process holds, by its own steady clock: a lease counts from before its renewal was sent, and a wall
 * clock that is set makes it neither longer nor shorter.
 */
export class HeldShards implements Ownership {
  readonly epoch: number
  readonly #clock: Pick<Clock, 'steady'>
  readonly #epochs = new Float64Array(shardCount)
  readonly #sentAt = new Float64Array(shardCount)
  readonly #aloneAt = new Float64Array(shardCount)
  readonly #draining = new Set<number>()
  readonly #crashed = new Set<number>()
  #shards: readonly number[] = []

  /** @param epoch number of this process's start. */
  constructor(epoch: number, clock: Pick<Clock, 'steady'>) {
    this.epoch = epoch
    this.#clock = clock
  }

  get shards(): readonly number[] {
    return this.#shards
  }

  epochOf(shard: number): number | undefined {
    const ageMs = this.#clock.steady() - (this.#sentAt[shard] ?? 0)
    return ageMs < leaseMs - marginMs ? this.heldUnder(shard) : undefined
  }

  /** Whether the lease was renewed so lately that no process can have broken it: what is in memory is the newest. */
  isFresh(shard: number): boolean {
    return this.heldUnder(shard) !== undefined && this.#clock.steady() - (this.#sentAt[shard] ?? 0) < freshMs
  }

  heldUnder(shard: number): number | undefined {
    const epoch = this.#epochs[shard]
    return epoch === 0 ? undefined : epoch
  }

  opens(shard: number): boolean {
    return this.heldUnder(shard) !== undefined && !this.#draining.has(shard)
  }

  crashed(shard: number): boolean {
    return this.#crashed.has(shard)
  }

  /** These shards are about to be taken from a process that has not given them back. */
  expectCrashed(shards: readonly number[]): void {
    for (const shard of shards) this.#crashed.add(shard)
  }

  aloneFrom(shard: number): number {
    return this.#aloneAt[shard] ?? 0
  }

  get draining(): ReadonlySet<number> {
    return this.#draining
  }

  /** The lease is this process's. @param sentAt when the call was sent that said so, by the steady clock. @returns whether that is news. */
  take({ shard, epoch }: Lease, sentAt: number): boolean {
    this.#sentAt[shard] = sentAt
    if (this.#epochs[shard] === epoch) return false
    this.#epochs[shard] = epoch
    // it was being given away when it was held before
    this.#draining.delete(shard)
    this.#aloneAt[shard] = epoch === 1 ? 0 : this.#clock.steady() + overlapMs
    this.#list()
    return true
  }

  /** The shard is held no more. */
  drop(shard: number): void {
    this.#epochs[shard] = 0
    this.#draining.delete(shard)
    this.#crashed.delete(shard)
    this.#list()
  }

  /** No effect begins in the shard from now on. */
  close(shard: number): void {
    if (this.heldUnder(shard) !== undefined) this.#draining.add(shard)
  }

  /** The shard stays after all. */
  reopen(shard: number): void {
    this.#draining.delete(shard)
  }

  /**
   * The store as this process may write to it: commits of shards that it holds for certain, under their epoch.
   *
   * @param doubt called when a write had to be refused although the shard is held.
   */
  guarded(commits: CommitStore, doubt: () => void): CommitStore {
    return guardedCommits(commits, (batch) => {
      if (batch.every(({ shard, epoch }) => this.epochOf(shard) === epoch)) return commits.append(batch)
      if (batch.some(({ shard, epoch }) => this.heldUnder(shard) !== epoch)) {
        return Promise.reject(new Elsewhere('another process holds the shard'))
      }
      doubt()
      return Promise.resolve(batch.map(() => 'unknown' as const))
    })
  }

  #list(): void {
    const shards: number[] = []
    for (let shard = 0; shard < shardCount; shard++) if (this.#epochs[shard] !== 0) shards.push(shard)
    this.#shards = shards
  }
}
