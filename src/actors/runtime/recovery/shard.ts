/** The number of shards of a store that does not state one; every store of an earlier release. */
const usualShards = 256

/** The shards of one store (specs/decisions/0064-cluster.md). */
export class Shards {
  /** A power of two up to 1,024. */
  readonly count: number

  constructor(count: number) {
    this.count = count
  }

  /** The shard of an actor: FNV-1a of its id, so that every host and release agrees. */
  of(actorId: string): number {
    let hash = 0x811c9dc5
    for (let index = 0; index < actorId.length; index++) {
      hash = Math.imul(hash ^ actorId.charCodeAt(index), 0x01000193)
    }
    return (hash >>> 0) % this.count
  }

  /** All shards, ascending. */
  all(): readonly number[] {
    return Array.from({ length: this.count }, (_, shard) => shard)
  }
}

/** The shards of a store. */
export const shardsOf = ({ shards = usualShards }: { readonly shards?: number }): Shards => new Shards(shards)
