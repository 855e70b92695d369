import { NotOwner } from '../commit/superseded.ts'
import type { Shards } from './shard.ts'

/** An actor in memory: its shard, and the epoch under which this process runs it. */
type OwnedActor = { readonly shard: number; readonly epoch: number }

/**
 * Which actors this process runs (specs/decisions/0064-cluster.md): all, or those of the shards whose leases it holds.
 * Consulted before each commit and each effect.
 */
export interface Ownership {
  /** The shards of the store. */
  readonly space: Shards
  /** Number of this process's start, counted over all processes of a store. No shard's epoch is lower. */
  readonly epoch: number
  /** Returns the epoch under which this process may commit for the actors of a shard now; undefined when it may not. */
  epochOf(shard: number): number | undefined
  /** Returns the epoch under which it holds a shard, even if its lease is too old to be certain; else undefined. */
  heldUnder(shard: number): number | undefined
  /** Whether no other process can have taken the shard yet, so that memory has the newest commits of its actors. */
  isFresh(shard: number): boolean
  /** Whether an effect may start in a shard: not while it is being handed over, which waits for running effects. */
  opens(shard: number): boolean
  /** The shards that it holds; undefined when it runs all of them. */
  readonly shards: readonly number[] | undefined
  /**
   * Whether the previous holder of a shard ended without giving it back: an effect that ran there may have crashed it.
   */
  crashed(shard: number): boolean
  /** Time from which no other process can still be active in a shard that is held here, in ms by the steady clock. */
  aloneFrom(shard: number): number
}

/** @throws {NotOwner} when this process may not commit for the actor, or cannot be certain that it may. */
export const checkOwner = (ownership: Ownership, { shard, epoch }: OwnedActor): void => {
  if (ownership.epochOf(shard) !== epoch) throw new NotOwner('this process may not run the actor now')
}

/** @throws {NotOwner} when another process may have committed for the actor. */
export const checkCertain = (ownership: Ownership, { shard, epoch }: OwnedActor): void => {
  if (ownership.isFresh(shard) && ownership.heldUnder(shard) === epoch) return
  throw new NotOwner('the lease is to be renewed before')
}

/** Returns the epoch under which an actor of this shard may be taken over here. @throws {NotOwner} */
export const epochHere = (ownership: Ownership, shard: number): number => {
  const epoch = ownership.epochOf(shard)
  if (epoch === undefined) throw new NotOwner('another process runs the actor')
  return epoch
}
