import { Elsewhere } from '../commit/superseded.ts'

/**
 * Which actors this process runs (specs/decisions/0064-cluster.md): all of them, or those of the shards whose leases it holds. Called
 * before each commit and each effect.
 */
export interface Ownership {
  /** Number of this process's start, counted over all processes of a store. No shard's epoch is lower. */
  readonly epoch: number
  /** The epoch under which this process may move the actors of a shard now; undefined when it may not. */
  epochOf(shard: number): number | undefined
  /** The epoch under which it holds a shard, though it may not be certain of that now; undefined when it does not. */
  heldUnder(shard: number): number | undefined
  /** Whether an effect may begin in a shard: not while that is handed over, which waits for those that run. */
  opens(shard: number): boolean
  /** The shards that it holds; undefined for all. */
  readonly shards: readonly number[] | undefined
  /** Whether the process that held a shard before ended without giving it back: what ran there may have ended it. */
  crashed(shard: number): boolean
  /** From when on no other process can still be at work in a shard that is held here, in ms by the steady clock. */
  aloneFrom(shard: number): number
}

/** The epoch under which an actor of this shard may be taken over here. @throws {Elsewhere} */
export const epochHere = (ownership: Ownership, shard: number): number => {
  const epoch = ownership.epochOf(shard)
  if (epoch === undefined) throw new Elsewhere('another process runs the actor')
  return epoch
}
