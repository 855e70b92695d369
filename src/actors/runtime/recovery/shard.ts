/** The number of shards of a store that does not state one; every store of an earlier release. */
const usualShards = 256

let count = usualShards

/** The number of shards of the store of this process, a power of two (specs/decisions/0064-cluster.md). */
export const shardCount = (): number => count

/** Sets the number of shards: that of the store that this process has opened, before any of its actors is used. */
export const useShardsOf = ({ shards = usualShards }: { readonly shards?: number }): void => {
  count = shards
}

/** The shard of an actor: FNV-1a of its id, so that every host and release agrees. */
export const shardOf = (actorId: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < actorId.length; index++) {
    hash = Math.imul(hash ^ actorId.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0) % count
}
