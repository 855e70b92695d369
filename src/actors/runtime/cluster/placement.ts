import type { Lease, LeaseClaim, Member } from '#storage/cluster-ports.ts'
import { shardCount } from '../recovery/shard.ts'

/**
 * Time in ms after which any process may take a shard that none runs: its preferred owner seems to be unaware of it.
 */
export const patienceMs = 1500

/** What a process knows when it decides which shards to take and which to hand over. */
export interface Situation {
  /** The process that decides. */
  readonly self: string
  /** Processes that may own shards: alive and not draining. Includes the deciding process unless it is draining. */
  readonly live: readonly string[]
  /** Leases by shard; undefined for a shard that no process ever held. */
  readonly leases: readonly (Lease | undefined)[]
  /** Whether a holder has ended or cannot be reached: its leases may be taken before they expire. */
  readonly isGone: (process: string) => boolean
  /** How long no process has run the shard, in ms; 0 when one does. */
  readonly freeMs: (shard: number) => number
  /** Whether another process has been alive for long enough to be given shards. */
  readonly isSettled: (process: string) => boolean
}

/** The shards that a process should take and hand over. */
export interface Plan {
  readonly claims: readonly LeaseClaim[]
  /** Shards that it holds and another process should hold. */
  readonly handOver: readonly number[]
}

/**
 * Returns the process that should run a shard. Rendezvous hashing makes all processes agree without communication, and
 * a process that joins or leaves moves no shard between two others. Undefined when there is no process.
 */
export const preferredOwner = (shard: number, live: readonly string[]): string | undefined => {
  let best: string | undefined
  let highest = -1
  for (const process of live) {
    const score = scoreOf(process, shard)
    if (score < highest || (score === highest && best !== undefined && process < best)) continue
    best = process
    highest = score
  }
  return best
}

/**
 * Returns the processes that may own shards: those that are not draining and run the same machine versions as all
 * others that own some. A newer release owns nothing until the last process of the older one drains or has ended: only
 * then are actors migrated, so no process meets an actor whose version it does not know
 * (specs/decisions/0064-cluster.md).
 *
 * @param members every live process.
 */
export const mayOwn = (members: readonly Member[], leases: readonly (Lease | undefined)[]): readonly string[] => {
  const holding = new Set(leases.flatMap((lease) => (lease?.holder && lease.leftMs > 0 ? [lease.holder] : [])))
  const staying = members.filter(({ draining }) => !draining)
  const holders = staying.filter(({ process }) => holding.has(process))
  const isAble = (member: Member): boolean =>
    holders.every((holder) => isSame(holder, member)) ||
    // both versions own some, as after a simultaneous start or a network partition: the newer one keeps its shards
    (holding.has(member.process) && !holders.some((holder) => isNewer(holder, member)))
  return staying.filter(isAble).map(({ process }) => process)
}

const isSame = (one: Member, other: Member): boolean => !isNewer(one, other) && !isNewer(other, one)

/** Whether a process runs a later version of some machine, or one that the other does not have. */
const isNewer = ({ machines = {} }: Member, { machines: known = {} }: Member): boolean =>
  Object.entries(machines).some(([name, version]) => version > (known[name] ?? 0))

/** Decides which shards to take and which to hand over now. */
export const planFor = (situation: Situation): Plan => {
  const { self, live, leases, isSettled } = situation
  const claims: LeaseClaim[] = []
  const handOver: number[] = []
  if (!live.includes(self)) return { claims, handOver }
  for (let shard = 0; shard < shardCount; shard++) {
    const lease = leases[shard]
    const preferred = preferredOwner(shard, live)
    if (lease?.holder === self && lease.leftMs > 0) {
      if (preferred !== undefined && preferred !== self && isSettled(preferred)) handOver.push(shard)
      continue
    }
    const claim = claimOf(situation, shard, lease)
    if (claim !== undefined && (preferred === self || situation.freeMs(shard) > patienceMs)) claims.push(claim)
  }
  return { claims, handOver }
}

const claimOf = ({ isGone }: Situation, shard: number, lease: Lease | undefined): LeaseClaim | undefined => {
  if (lease === undefined) return { shard, epoch: 0, leftMs: 0 }
  const { epoch, holder, leftMs } = lease
  if (holder === null || leftMs <= 0) return { shard, epoch, leftMs: 0 }
  return isGone(holder) ? { shard, epoch, leftMs } : undefined
}

const scoreOf = (process: string, shard: number): number => {
  let hash = 0x811c9dc5 ^ Math.imul(shard + 1, 0x9e3779b1)
  for (let index = 0; index < process.length; index++) hash = Math.imul(hash ^ process.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
