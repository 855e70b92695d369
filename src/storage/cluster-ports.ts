import type { JsonObject, LogEvent } from '#specs/dsl/json.ts'

/** A process of an installation of several nodes, as it announces itself. */
export interface Member {
  /** This very process; another one after each start. */
  readonly process: string
  /** Name of the node, the same after a restart (`NODE_ID`); for people. */
  readonly node: string
  /** Where its peers reach it: `host:port`. */
  readonly address: string
  /** It gives its shards away, and takes none. */
  readonly draining: boolean
  /** ms since the epoch. */
  readonly startedAt: number
  /** The version of each machine that it runs, by name; absent: it is of a release that does not announce them. */
  readonly machines?: Readonly<Record<string, number>>
  /** Distinguishes it from all other processes of its machine (src/process-mark.ts); absent where that cannot be known. */
  readonly mark?: string
}

/** Who runs the actors of one shard. */
export interface Lease {
  /** 0–255. */
  readonly shard: number
  /** The process that holds it; null when it was given back. */
  readonly holder: string | null
  /** The holder's address; null when it was given back. */
  readonly address: string | null
  /** Raised at every change of holder. */
  readonly epoch: number
  /** ms until it runs out, by the store's clock, when it was read; 0 or less: any process may take it. */
  readonly leftMs: number
}

/** Everything that the store knows of who runs what. A shard that no process ever held has no lease. */
export interface LeaseTable {
  readonly leases: readonly Lease[]
  /** Processes that have renewed in time. */
  readonly members: readonly Member[]
}

/** A lease to take: only when its epoch is still the one that was read. */
export interface LeaseClaim {
  readonly shard: number
  /** As read; 0 for a shard that no process ever held. */
  readonly epoch: number
  /** Take it although it has not run out: its holder is known to be gone. */
  readonly breaking: boolean
}

/** The least epoch that the leases get, and how long they last. */
export interface LeaseTerm {
  readonly floor: number
  readonly ms: number
}

/**
 * Leases of shards, by the store's own clock (specs/decisions/0064-cluster.md). Safety is the unique key of commits; a lease only keeps
 * two processes from getting in each other's way.
 *
 * Every method rejects with `StoreUnavailable` when the store cannot be reached; what it was to do may have been done.
 * One process makes one call at a time.
 */
export interface LeaseStore {
  read(): Promise<LeaseTable>
  /**
   * Takes each lease, or not, on its own: when it is free, has run out, or `breaking`, and its epoch is the one claimed.
   * Its new epoch is `max(epoch + 1, floor)`.
   *
   * @param ms how long a lease is good for from now.
   * @returns the leases that are the caller's now.
   */
  acquire(self: Member, claims: readonly LeaseClaim[], term: LeaseTerm): Promise<readonly Lease[]>
  /** Announces the process, and prolongs all leases that it holds and that no other took. @returns those. */
  renew(self: Member, ms: number): Promise<readonly Lease[]>
  /** Gives leases back, at once. Those that are another's by now stay. */
  release(process: string, shards: readonly number[]): Promise<void>
  /** The process is no member any more, and holds nothing. */
  leave(process: string): Promise<void>
}

/** What a process reports of itself, for the operators' pages. */
export interface HostFacts {
  readonly shards: number
  readonly liveActors: number
  readonly runningEffects: number
}

/** How long the directory knows of a live actor. */
export const liveActorMs = 15 * 60_000

/** One live actor in the directory. */
export interface LiveActor {
  readonly actor: string
  readonly machine: string
  readonly project: string
  readonly node: string
  readonly process: string
}

/**
 * Who is alive, as a hint: entries that run out unless they are renewed. Nothing rests on it but how soon a dead
 * process is noticed, and pages for operators. No method rejects: trouble is an answer of its own.
 */
export interface Presence {
  /** Announces the process for `ms`. */
  announce(self: Member, facts: HostFacts, ms: number): Promise<void>
  /** The process ends. */
  withdraw(process: string): Promise<void>
  /**
   * The processes that are announced; null when that is not known: the directory is away, was away a short time ago, or
   * does not know the caller.
   */
  alive(self: Member): Promise<ReadonlySet<string> | null>
  /** Every announced process with its facts; empty when the directory is away. */
  hosts(): Promise<readonly (Member & HostFacts)[]>
  /** Notes which actors came to memory and which left; one that is not noted again within `liveActorMs` is forgotten. */
  moved(came: readonly LiveActor[], left: readonly LiveActor[]): Promise<void>
  /** Live actors of a project, at most `limit`, in no order; empty when the directory is away. */
  actors(project: string, limit: number): Promise<readonly LiveActor[]>
  close(): Promise<void>
}

/** What another process commits to an actor that is followed here. */
export interface ActorNews {
  readonly actor: string
  readonly events: readonly LogEvent[]
  /** Whether the actor goes on by itself after this. */
  readonly busy: boolean
  readonly lastSequence: number
}

/**
 * Carries news of actors between processes, as a hint: what is lost is found in the log. No method rejects or waits.
 */
export interface FanOut {
  /** False while nothing gets through; then followers read the log again and again. */
  readonly up: boolean
  /** Sends news to a process; what is sent in one turn of the event loop travels together. */
  publish(process: string, news: ActorNews): void
  /** Receives the news for this process. */
  listen(process: string, listener: (news: readonly ActorNews[]) => void): void
  /** Sends a hint to every process, such as that leases were given back or that a cached record changed. */
  announce(topic: string, data: JsonObject): void
  /** Receives hints of a topic, the own ones too. */
  subscribe(topic: string, listener: (data: JsonObject) => void): void
  /** Called whenever `up` has become true again. */
  onUp(listener: () => void): void
  close(): Promise<void>
}

/** So many units in every span of so many ms. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/** What is left of a limit after an attempt to take from it. */
export interface LimitState {
  readonly allowed: boolean
  /** Units left in the window. */
  readonly remaining: number
  /** ms until the first of the units that are taken come back; 0 when none is taken. */
  readonly resetMs: number
}

/**
 * Counts over a sliding window, exact over all nodes that share it: in no span of `windowMs` are more than `limit` units
 * taken; a unit comes back at most 1/60 of the window late. When the shared store is away each node counts for
 * itself: a limit is then looser, never closed.
 */
export interface RateLimits {
  /** Takes `units` (1 when left out) from `limit` units in `windowMs`; takes nothing when that is too much. */
  take(key: string, limit: RateLimit, units?: number): Promise<LimitState>
  /** Forgets what was taken. */
  reset(key: string): Promise<void>
}
