import type { HostFacts, LiveActor } from '#storage/index.ts'

/** A process of the installation, as operators see it. */
export interface NodeView {
  readonly process: string
  readonly node: string
  /** Null for a single process without a cluster. */
  readonly address: string | null
  readonly current: boolean
  /** Null while the directory is unavailable. */
  readonly alive: boolean | null
  readonly draining: boolean
  readonly startedAt: number
  readonly shards: number
  /** Null while the directory has no facts of this process. */
  readonly facts: Omit<HostFacts, 'shards' | 'redis'> | null
  /** What the node is connected to for its work with other nodes; null for a single process, or if unknown. */
  readonly redis: string | null
}

/** A shard as operators see it. */
export interface ShardView {
  readonly shard: number
  /** Null when no process runs the shard. */
  readonly process: string | null
  /** Increases each time another process takes the shard; 0 for a single process without a cluster. */
  readonly epoch: number
  /** Time until the lease expires, in ms; null without a lease. */
  readonly leftMs: number | null
}

/**
 * The processes of the installation, and where actors run. All methods reject with `StoreUnavailable` when the store is
 * unavailable.
 */
export interface Nodes {
  list(): Promise<readonly NodeView[]>
  /** All shards, in order. */
  shards(): Promise<readonly ShardView[]>
  /** Name of the node that runs an actor; null when none does. */
  runnerOf(actor: string): Promise<string | null>
  /** Live actors of a project on all nodes, at most `limit`, in no particular order. */
  liveActors(project: string, limit: number): Promise<readonly LiveActor[]>
}
