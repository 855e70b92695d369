/**
 * Which actors this process runs (DESIGN "Owners"): all of them, or those of the shards whose leases it holds. Asked
 * before each commit and each effect.
 */
export interface Ownership {
  /** The epoch under which this process may move the actors of a shard now; undefined when it may not. */
  epochOf(shard: number): number | undefined
  /** The shards that it holds; undefined for all. */
  readonly shards: readonly number[] | undefined
  /** From when on nobody else can still be at work in a shard that is held here, in ms since the epoch. */
  aloneFrom(shard: number): number
}
