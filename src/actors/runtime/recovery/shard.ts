/** Number of shards; fixed for the life of a store (specs/decisions/0064-cluster.md). */
export const shardCount = 256

/** The shard of an actor: FNV-1a of its id, so that every host and release agrees. */
export const shardOf = (actorId: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < actorId.length; index++) {
    hash = Math.imul(hash ^ actorId.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0) % shardCount
}
