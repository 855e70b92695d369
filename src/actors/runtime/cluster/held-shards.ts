import type { Lease } from '#storage/cluster-ports.ts'
import type { CommitStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { guardedCommits } from '../commit/guarded-commits.ts'
import { NotOwner } from '../commit/superseded.ts'
import type { Ownership } from '../recovery/ownership.ts'
import type { Shards } from '../recovery/shard.ts'
import { overlapMs } from '../recovery/sole-owner.ts'

/** Validity of a lease by the store's clock, in ms (specs/decisions/0064-cluster.md). */
export const leaseMs = 4000
/** A process stops writing this long before its lease expires, in ms. */
export const marginMs = 1000
/** A process that has not renewed for this long may lose its leases early if the directory does not list it, in ms. */
export const renewedMs = 1500
/**
 * Age of a lease up to which refusals and reads from memory are certain, in ms: `renewedMs` less the time that the
 * answer to a renewal takes.
 */
const freshMs = renewedMs - 100

/**
 * The shards that this process holds. A lease counts by the process's own steady clock from before its renewal was
 * sent, so a change of the wall clock makes it neither longer nor shorter.
 */
export class HeldShards implements Ownership {
  readonly epoch: number
  readonly space: Shards
  readonly #clock: Pick<Clock, 'steady'>
  readonly #epochs: Float64Array
  readonly #sentAt: Float64Array
  readonly #aloneAt: Float64Array
  readonly #draining = new Set<number>()
  readonly #crashed = new Set<number>()
  #shards: readonly number[] = []

  /** @param epoch number of this process's start. @param space the shards of the store. */
  constructor(epoch: number, clock: Pick<Clock, 'steady'>, space: Shards) {
    this.space = space
    this.#epochs = new Float64Array(space.count)
    this.#sentAt = new Float64Array(space.count)
    this.#aloneAt = new Float64Array(space.count)
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

  /** Whether the lease was renewed so recently that no other process can have broken it: memory is up to date. */
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

  /** Notes shards that are about to be taken from a process that has not given them back. */
  expectCrashed(shards: readonly number[]): void {
    for (const shard of shards) this.#crashed.add(shard)
  }

  aloneFrom(shard: number): number {
    return this.#aloneAt[shard] ?? 0
  }

  get draining(): ReadonlySet<number> {
    return this.#draining
  }

  /**
   * Records a lease of this process.
   * @param sentAt when the call that returned it was sent, by the steady clock.
   * @returns whether it is new.
   */
  take({ shard, epoch }: Lease, sentAt: number): boolean {
    this.#sentAt[shard] = sentAt
    if (this.#epochs[shard] === epoch) return false
    this.#epochs[shard] = epoch
    // the shard may have been draining when it was held before
    this.#draining.delete(shard)
    this.#aloneAt[shard] = epoch === 1 ? 0 : this.#clock.steady() + overlapMs
    this.#list()
    return true
  }

  /** Removes a shard that is no longer held. */
  drop(shard: number): void {
    this.#epochs[shard] = 0
    this.#draining.delete(shard)
    this.#crashed.delete(shard)
    this.#list()
  }

  /** Lets no further effect start in the shard. */
  close(shard: number): void {
    if (this.heldUnder(shard) !== undefined) this.#draining.add(shard)
  }

  /** Lets effects start in the shard again: its handover was given up. */
  reopen(shard: number): void {
    this.#draining.delete(shard)
  }

  /**
   * Wraps the store so that this process writes only commits of shards that it certainly holds, under their epoch.
   *
   * @param doubt called when a write had to be refused although the shard is held.
   */
  guarded(commits: CommitStore, doubt: () => void): CommitStore {
    return guardedCommits(commits, (batch) => {
      if (batch.every(({ shard, epoch }) => this.epochOf(shard) === epoch)) return commits.append(batch)
      if (batch.some(({ shard, epoch }) => this.heldUnder(shard) !== epoch)) {
        return Promise.reject(new NotOwner('another process holds the shard'))
      }
      doubt()
      return Promise.resolve(batch.map(() => 'unknown' as const))
    })
  }

  #list(): void {
    this.#shards = this.space.all().filter((shard) => this.#epochs[shard] !== 0)
  }
}
