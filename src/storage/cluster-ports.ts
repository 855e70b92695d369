import type { JsonObject, LogEvent } from '../machines/json.ts'

/** A process of an installation with several nodes, as it announces itself. */
export interface Member {
  /** Id of this process; new after each start. */
  readonly process: string
  /** Name of the node, unchanged by a restart (`NODE_ID`); for display. */
  readonly node: string
  /** Address at which peers reach it: `host:port`. */
  readonly address: string
  /** Whether it releases its shards and acquires none. */
  readonly draining: boolean
  /** ms since the epoch. */
  readonly startedAt: number
  /** The version of each machine that it runs, by name; absent for a release that does not announce them. */
  readonly machines?: Readonly<Record<string, number>>
  /**
   * The oldest version of each machine that can read actors of its version, by name; absent for a release that does not
   * announce them.
   */
  readonly readableBy?: Readonly<Record<string, number>>
  /** Distinguishes it from all other processes of its host (src/process-mark.ts); absent where that is unknown. */
  readonly mark?: string
}

/** The right to run the actors of one shard. */
export interface Lease {
  /** From 0 to the number of shards of the store less one. */
  readonly shard: number
  /** The process that holds it; null when it was released. */
  readonly holder: string | null
  /** The holder's address; null when it was released. */
  readonly address: string | null
  /** Increased at every change of holder. */
  readonly epoch: number
  /** ms until it expires, by the store's clock, at the time of the read; 0 or less: any process may acquire it. */
  readonly leftMs: number
  /** The highest level of the releases that have held it; absent: 0. */
  readonly level?: number
}

/** All leases and members in the store. A shard that no process ever held has no lease. */
export interface LeaseTable {
  readonly leases: readonly Lease[]
  /** Processes whose membership has not expired. */
  readonly members: readonly Member[]
}

/**
 * Request to acquire a lease, granted only if it is still as it was read: of this epoch, and not renewed since. A holder
 * that has just renewed may read its actors from memory.
 */
export interface LeaseClaim {
  readonly shard: number
  /** As read; 0 for a shard that no process ever held. */
  readonly epoch: number
  /**
   * Most ms that it may still have left: 0 for one that is free or has expired; as read, to acquire one whose holder
   * seems to have ended before it expires.
   */
  readonly leftMs: number
}

/** The minimum epoch of acquired leases, their duration, and the level of the release that acquires them. */
export interface LeaseTerm {
  readonly floor: number
  readonly ms: number
  /** Absent: 0. A lease keeps the highest. */
  readonly level?: number
}

/**
 * Leases of shards, by the store's own clock (specs/decisions/0064-cluster.md). Safety comes from the unique key of
 * commits; a lease only keeps two processes from competing for an actor.
 *
 * Every method rejects with `StoreUnavailable` when the store cannot be reached; its change may have been made
 * nevertheless. A process makes one call at a time.
 */
export interface LeaseStore {
  read(): Promise<LeaseTable>
  /**
   * Acquires each lease independently: if its epoch is the one claimed, and it has at most `leftMs` left. Its new epoch
   * is `max(epoch + 1, floor)`.
   *
   * @param term the minimum epoch, and the duration of the leases from now in ms.
   * @returns the leases that the caller has acquired.
   */
  acquire(self: Member, claims: readonly LeaseClaim[], term: LeaseTerm): Promise<readonly Lease[]>
  /** Announces the process, and extends all leases that it still holds. @returns those. */
  renew(self: Member, ms: number): Promise<readonly Lease[]>
  /** Releases leases immediately, except those that another process has acquired meanwhile. */
  release(process: string, shards: readonly number[]): Promise<void>
  /** Removes the process from the members and releases all its leases. */
  leave(process: string): Promise<void>
}

/** Load of a process, for the operators' pages. */
export interface HostFacts {
  readonly shards: number
  readonly liveActors: number
  readonly runningEffects: number
  /** What its directory is connected to; absent if unknown. */
  readonly redis?: string
}

/** Time in ms after which the directory forgets a live actor that is not reported again. */
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
 * Directory of live processes and actors, as a hint: entries expire unless renewed. Only the speed of detecting a dead
 * process and the operators' pages depend on it. No method rejects: a failure has its own return value.
 */
export interface Presence {
  /** What it is connected to now, for operators; absent where there is only memory. */
  readonly connectedTo?: string
  /** Announces the process for `ms`. */
  announce(self: Member, facts: HostFacts, ms: number): Promise<void>
  /** Removes a process that is shutting down. */
  withdraw(process: string): Promise<void>
  /**
   * Returns the announced processes; null when they are unknown: the directory is unavailable, was unavailable shortly
   * before, or does not list the caller.
   */
  alive(self: Member): Promise<ReadonlySet<string> | null>
  /** Returns every announced process with its facts; empty when the directory is unavailable. */
  hosts(): Promise<readonly (Member & HostFacts)[]>
  /**
   * Records actors that were loaded into memory and unloaded; one that is not recorded again within `liveActorMs` is
   * forgotten.
   */
  moved(came: readonly LiveActor[], left: readonly LiveActor[]): Promise<void>
  /** Returns live actors of a project, at most `limit`, in no order; empty when the directory is unavailable. */
  actors(project: string, limit: number): Promise<readonly LiveActor[]>
  close(): Promise<void>
}

/** A commit of another process to an actor that is followed here. */
export interface ActorNews {
  readonly actor: string
  readonly events: readonly LogEvent[]
  /** Whether the actor continues by itself after this commit. */
  readonly busy: boolean
  readonly lastSequence: number
}

/** Carries notifications between processes, as a hint: lost ones are found in the log. No method rejects or waits. */
export interface FanOut {
  /** False while no message gets through; followers then poll the log. */
  readonly up: boolean
  /** Sends news to a process; messages of one turn of the event loop are sent together. */
  publish(process: string, news: ActorNews): void
  /** Receives the news for this process. */
  listen(process: string, listener: (news: readonly ActorNews[]) => void): void
  /** Sends a hint to every process, such as that leases were given back or that a cached record changed. */
  announce(topic: string, data: JsonObject): void
  /** Receives hints of a topic, including those of this process. */
  subscribe(topic: string, listener: (data: JsonObject) => void): void
  /** Called whenever `up` has become true again. */
  onUp(listener: () => void): void
  close(): Promise<void>
}

/** A maximum number of units in any window of `windowMs` ms. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/** State of a limit after an attempt to take from it. */
export interface LimitState {
  readonly allowed: boolean
  /** Units left in the window. */
  readonly remaining: number
  /** ms until the first of the taken units is available again; 0 when none is taken. */
  readonly resetMs: number
}

/** Units that work may use, which is known exactly only after it. */
export interface WantedUnits {
  readonly max: number
  /** The fewest units that suffice if the work can be limited; absent: `max`. */
  readonly min?: number | undefined
}

/** Units that are held for work in progress. */
export interface HeldUnits {
  readonly units: number
  /** When they become available again by themselves; has a meaning only for the limits that returned it. */
  readonly back: number
}

/** Held units, and the `units` that were used instead. */
export interface SettledUnits {
  readonly held: HeldUnits
  readonly units: number
}

/** State of a limit after an attempt to hold units; `held` is null when none are left. */
export interface HoldState extends LimitState {
  readonly held: HeldUnits | null
}

/**
 * Sliding-window rate limits, exact across all nodes that share them: no more than `limit` units are taken in any span
 * of `windowMs`, and a unit becomes available again at most 1/60 of the window late. While the shared store is
 * unavailable each node counts for itself, so that limits become looser but never block.
 */
export interface RateLimits {
  /** Takes `units` (default 1) from `limit` units in `windowMs`; takes nothing when that exceeds the limit. */
  take(key: string, limit: RateLimit, units?: number): Promise<LimitState>
  /**
   * Holds units before they are used, if one is left: `max`, even beyond the limit, so that all work together exceeds
   * it by at most one piece. Work that can be limited holds at most an eighth of what is left, so that more of it can
   * run at the same time, but at least `min`, unless fewer are left. Units that are not settled within the window
   * become available by themselves.
   */
  hold(key: string, limit: RateLimit, wanted: WantedUnits): Promise<HoldState>
  /**
   * Replaces held units by those that were used, whatever is left of the limit; the same number renews a hold.
   *
   * @returns the units as they count from now.
   */
  settle(key: string, limit: RateLimit, settled: SettledUnits): Promise<HeldUnits>
  /** Resets a key's count. */
  reset(key: string): Promise<void>
}

/** Rule of the turns at a resource that does not belong to the installation, such as a host that is crawled. */
export interface TurnRule {
  /** Maximum number of turns at a time. */
  readonly atOnce: number
  /** Minimum time between the beginnings of two turns, in ms. */
  readonly spacingMs: number
  /** Time in ms after which a turn ends by itself, should its process have died. */
  readonly holdMs: number
}

/** Outcome of an attempt to take a turn. */
export interface TurnState {
  readonly taken: boolean
  /** ms after which another attempt may succeed; 0 when the turn is taken. */
  readonly waitMs: number
  /** Whether all turns are postponed until then. */
  readonly postponed: boolean
}

/**
 * Turns at resources, exact across all nodes that share them. While the shared store is unavailable each node counts for
 * itself. No method rejects.
 */
export interface SharedTurns {
  /** Takes a turn if the rule allows it now. `holder` identifies the turn. */
  take(key: string, holder: string, rule: TurnRule): Promise<TurnState>
  /** Ends a turn; one that has ended by itself is ignored. */
  giveBack(key: string, holder: string): Promise<void>
  /** Postpones all further turns: none begins within `ms` from now. A longer postponement stays. */
  postpone(key: string, ms: number): Promise<void>
}
