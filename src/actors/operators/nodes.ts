import type { HostFacts, LiveActor } from '#storage/cluster-ports.ts'

/** A process of the installation as its operators see it. */
export interface NodeView {
  readonly process: string
  readonly node: string
  /** Null for a process that runs alone. */
  readonly address: string | null
  readonly current: boolean
  /** Null while the directory does not know. */
  readonly alive: boolean | null
  readonly draining: boolean
  readonly startedAt: number
  readonly shards: number
  /** Null while the directory does not know. */
  readonly facts: Omit<HostFacts, 'shards'> | null
}

/** A shard as operators see it. */
export interface ShardView {
  readonly shard: number
  /** null: no process runs it. */
  readonly process: string | null
  /** Raised at every change of the process; 0 for a process that runs alone. */
  readonly epoch: number
  /** null: there is no lease that could run out. */
  readonly leftMs: number | null
}

/** What runs where in the installation. Every method rejects with `StoreUnavailable` when the store is away. */
export interface Nodes {
  list(): Promise<readonly NodeView[]>
  /** All shards in their order. */
  shards(): Promise<readonly ShardView[]>
  /** Name of the node that runs an actor; null while none does. */
  runnerOf(actor: string): Promise<string | null>
  /** Actors of a project in memory, of any node, at most `limit`, in no order. */
  liveActors(project: string, limit: number): Promise<readonly LiveActor[]>
}
