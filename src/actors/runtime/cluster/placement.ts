import type { Lease, LeaseClaim, Member } from '#storage/cluster-ports.ts'
import { type AbleOwners, ableOwners, isOfEarlierRule, levelOf } from './able-owners.ts'
import { drawOf } from './draw.ts'

/**
 * Time in ms after which a shard that none runs goes to the process after the one that should have taken it, which seems
 * to be unaware of it; after twice that time every process may take it.
 */
export const patienceMs = 1500
/** The same if the holder seems to have ended before its lease did, of which that process may not know. */
const unawareMs = 600
/**
 * Time in ms without a process of a release, before an older one takes its shards: as long as requests wait for an
 * actor.
 */
const olderAfterMs = 5000

/** What a process knows when it decides which shards to take and which to hand over. */
export interface Situation {
  /** The process that decides. */
  readonly self: string
  /** Live processes, the deciding one included. */
  readonly members: readonly Member[]
  /** Leases by shard; undefined for a shard that no process ever held. */
  readonly leases: readonly (Lease | undefined)[]
  /** Whether a holder has ended or cannot be reached: its leases may be taken before they expire. */
  readonly isGone: (process: string) => boolean
  /** How long no process has run the shard, in ms; 0 when one does. */
  readonly freeMs: (shard: number) => number
  /** How long no process of this level or a higher one has been alive, in ms. */
  readonly absentMs: (level: number) => number
  /** Whether another process has been alive for long enough to be given shards. */
  readonly isSettled: (process: string) => boolean
}

/** Shards of which a number should be handed over; any of them will do. */
export interface Surplus {
  readonly count: number
  readonly among: readonly number[]
}

/** The shards that a process should take and hand over. */
export interface Plan {
  readonly claims: readonly LeaseClaim[]
  readonly handOver: readonly Surplus[]
}

interface FreeShard {
  readonly claim: LeaseClaim
  readonly level: number
}

/**
 * Decides which shards to take and which to hand over now. Each process may own as many as any other, give or take one:
 * a free shard goes to the process that has the fewest, and one that has two more than another hands some over. All
 * processes reach the same plan from the same lease table, and a process that joins or leaves moves its share only.
 */
export const planFor = (situation: Situation): Plan => {
  const { self, members } = situation
  if (!members.some(({ process, draining }) => process === self && !draining)) return { claims: [], handOver: [] }
  const spread = new Spread(situation)
  const claims = spread.claims()
  return { claims, handOver: members.some(isOfEarlierRule) ? [] : spread.surplus() }
}

/** How many shards each process holds, of which levels; what is planned is added. */
class Spread {
  readonly #situation: Situation
  readonly #owners: AbleOwners

  /** Number of shards of each process that stays. */
  readonly #counts: Map<string, number>
  /** Shards by holder and level. */
  readonly #held = new Map<string, Map<number, number[]>>()
  readonly #free: FreeShard[] = []

  constructor(situation: Situation) {
    this.#situation = situation
    const able = ableOwners(situation.members)
    const staying = situation.members.filter(({ draining }) => !draining)
    const newest = staying.reduce((level, member) => Math.max(level, levelOf(member)), 0)
    this.#owners = (level) => (level > newest && situation.absentMs(level) <= olderAfterMs ? [] : able(level))
    this.#counts = new Map(
      staying
        .map(({ process }) => process)
        .sort()
        .map((process) => [process, 0]),
    )
    for (const [shard, lease] of situation.leases.entries()) this.#note(shard, lease)
  }

  /** Distributes the free shards. @returns those that this process should take. */
  claims(): readonly LeaseClaim[] {
    // those that few may own come first
    const choices = ({ level }: FreeShard): number => this.#owners(level).length
    const free = this.#free.toSorted((a, b) => choices(a) - choices(b) || a.claim.shard - b.claim.shard)
    return free.filter((shard) => this.#isOurs(shard)).map(({ claim }) => claim)
  }

  /** Evens out what the processes hold. @returns what this process has to give up for that. */
  surplus(): readonly Surplus[] {
    const left = new Map([...this.#held].map(([process, levels]) => [process, this.#sizes(levels)]))
    const given = new Map<number, number>()
    const open = new Set(this.#counts.keys())
    for (let from = this.#fullest(open); from !== undefined; from = this.#fullest(open)) {
      const sizes = left.get(from)
      const move = sizes && this.#moveFrom(from, sizes)
      if (sizes === undefined || move === undefined) {
        open.delete(from)
        continue
      }
      sizes.set(move.level, (sizes.get(move.level) ?? 0) - 1)
      this.#add(from, -1)
      this.#add(move.to, 1)
      if (from === this.#situation.self) given.set(move.level, (given.get(move.level) ?? 0) + 1)
    }
    const own = this.#held.get(this.#situation.self)
    return [...given].map(([level, count]) => ({ count, among: own?.get(level) ?? [] }))
  }

  #note(shard: number, lease: Lease | undefined): void {
    const level = lease?.level ?? 0
    const claim = claimOf(this.#situation, shard, lease)
    if (claim !== undefined) this.#free.push({ claim, level })
    else if (lease?.holder && this.#counts.has(lease.holder)) {
      const levels = this.#held.get(lease.holder) ?? new Map<number, number[]>()
      const shards = levels.get(level) ?? []
      shards.push(shard)
      this.#held.set(lease.holder, levels.set(level, shards))
      this.#add(lease.holder, 1)
    }
  }

  #isOurs({ claim: { shard, leftMs }, level }: FreeShard): boolean {
    const { self, freeMs } = this.#situation
    const able = this.#owners(level)
    const first = this.#emptiest(able, shard)
    if (first === undefined) return false
    this.#add(first, 1)
    const waitedMs = freeMs(shard)
    if (first === self || waitedMs <= (leftMs > 0 ? unawareMs : patienceMs)) return first === self
    const isLate = waitedMs > 2 * patienceMs
    return isLate
      ? able.includes(self)
      : this.#emptiest(
          able.filter((each) => each !== first),
          shard,
        ) === self
  }

  #moveFrom(from: string, sizes: ReadonlyMap<number, number>) {
    const { self, isSettled } = this.#situation
    const count = this.#counts.get(from) ?? 0
    let best: { readonly level: number; readonly to: string; readonly fill: number } | undefined
    for (const [level, size] of sizes) {
      if (size === 0) continue
      const able = this.#owners(level)
      const to = this.#emptiest(
        able.filter((each) => each !== from && (each === self || isSettled(each))),
        0,
      )
      if (to === undefined) continue
      const fill = this.#counts.get(to) ?? 0
      const isWanted = fill + 1 < count || !able.includes(from)
      if (isWanted && (best === undefined || fill < best.fill)) best = { level, to, fill }
    }
    return best
  }

  #fullest(among: Iterable<string>): string | undefined {
    let best: string | undefined
    for (const each of among) if (best === undefined || this.#size(each) > this.#size(best)) best = each
    return best
  }

  /** The process with the fewest shards; of several, one drawn by the shard. */
  #emptiest(among: readonly string[], shard: number): string | undefined {
    let best: string | undefined
    for (const each of among) {
      const less = best === undefined ? -1 : this.#size(each) - this.#size(best)
      if (less < 0 || (less === 0 && best !== undefined && drawOf(each, shard) > drawOf(best, shard))) best = each
    }
    return best
  }

  #sizes(levels: ReadonlyMap<number, readonly number[]>): Map<number, number> {
    return new Map([...levels].map(([level, shards]) => [level, shards.length]))
  }

  #size(process: string): number {
    return this.#counts.get(process) ?? 0
  }

  #add(process: string, count: number): void {
    this.#counts.set(process, this.#size(process) + count)
  }
}

const claimOf = ({ isGone }: Situation, shard: number, lease: Lease | undefined): LeaseClaim | undefined => {
  if (lease === undefined) return { shard, epoch: 0, leftMs: 0 }
  const { epoch, holder, leftMs } = lease
  if (holder === null || leftMs <= 0) return { shard, epoch, leftMs: 0 }
  return isGone(holder) ? { shard, epoch, leftMs } : undefined
}
