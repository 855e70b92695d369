import type { Lease, LeaseTable, Member } from '#storage/cluster-ports.ts'
import type { Shards } from '../recovery/shard.ts'
import { levelOf } from './able-owners.ts'
import { leaseMs, renewedMs } from './held-shards.ts'

/** The process that holds a shard, and its address. */
export interface ShardOwner {
  readonly process: string
  readonly address: string
}

/** Time for which a process counts as gone after it was found to be, in ms. */
const goneMs = 5000
/** Time for which a process that did not answer is not called again, in ms. */
const silentMs = 1000
/** Grace period in ms: the directory may not list a new process yet, nor any process when it was just restored. */
const newMs = 2000

/**
 * What this process knows of the other processes: the lease table as last read, and which processes seem to have ended.
 */
export class LeaseView {
  readonly #self: string
  readonly #now: () => number
  readonly #space: Shards
  #leases: readonly (Lease | undefined)[]
  #members: readonly Member[] = []
  readonly #seenSince = new Map<string, number>()
  readonly #freeSince = new Map<number, number>()
  /** When a process of each level was alive for the last time. */
  readonly #levels = new Map<number, number>()
  readonly #startedAt: number
  readonly #goneUntil = new Map<string, number>()
  readonly #refusals = new Map<string, number>()
  /** Processes that did not respond: since when, and when that was noticed. */
  readonly #silences = new Map<string, { readonly since: number; readonly foundAt: number }>()
  /** Time of each holder's last renewal, according to the lease table. */
  readonly #renewedAt = new Map<string, number>()
  /**
   * Processes that the operating system reports as ended, since when; `#neverEnded` has those of which that was wrong.
   */
  readonly #endedSince = new Map<string, number>()
  readonly #neverEnded = new Set<string>()
  readonly #listeners = new Map<number, Set<() => void>>()
  /** Called when shards have other owners. */
  onMove: () => void = () => {}
  /** Processes that had just renewed when the table was read: if the directory lacks one, the directory is wrong. */
  #renewed: ReadonlySet<string> = new Set()
  #alive: ReadonlySet<string> | null = null
  #aliveSince = 0

  /** @param space the shards of the store. */
  constructor(self: string, now: () => number, space: Shards) {
    this.#self = self
    this.#space = space
    this.#leases = new Array(space.count).fill(undefined)
    this.#now = now
    this.#startedAt = now()
  }

  /** Leases by shard. */
  get leases(): readonly (Lease | undefined)[] {
    return this.#leases
  }

  /** Members of the cluster, this process included. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** Returns the holder of a shard, as far as is known; it may have ended. Undefined when no process holds it. */
  ownerOf(shard: number): ShardOwner | undefined {
    const lease = this.#leases[shard]
    if (!lease || lease.holder === null || lease.address === null || this.isGone(lease.holder)) return undefined
    return { process: lease.holder, address: lease.address }
  }

  /** Which other processes seem to have ended, and how many run, with this one. */
  get processes() {
    const isGone = (process: string): boolean => process !== this.#self && this.isGone(process)
    const haveAll = (machine: string, version: number): boolean =>
      this.peers().every(({ machines }) => (machines?.[machine] ?? 0) >= version)
    return { self: this.#self, isGone, count: () => this.peers().length + 1, haveAll }
  }

  /** Returns the other members that do not seem to have ended. */
  peers(): readonly Member[] {
    return this.#members.filter(({ process }) => process !== this.#self && !this.isGone(process))
  }

  /** Returns how long no process has run a shard, in ms. */
  freeMs(shard: number): number {
    const since = this.#freeSince.get(shard)
    return since === undefined ? 0 : this.#now() - since
  }

  /** Returns how long no process of this level or a higher one has been alive, in ms. */
  absentMs(level: number): number {
    const seen = [...this.#levels].map(([each, at]) => (each >= level ? at : 0))
    return this.#now() - Math.max(this.#startedAt, ...seen)
  }

  /** Returns for how long a process has been a member, in ms. */
  seenMs(process: string): number {
    const since = this.#seenSince.get(process)
    return since === undefined ? 0 : this.#now() - since
  }

  /**
   * Whether a process seems to have ended. Only speed depends on this being right, not safety
   * (specs/decisions/0064-cluster.md).
   */
  isGone(process: string): boolean {
    if (process === this.#self) return false
    if (this.#endedSince.has(process)) return true
    if ((this.#goneUntil.get(process) ?? 0) > this.#now()) return true
    if (this.#renewed.has(process)) return false
    return this.#isMissing(process) || (this.#hasStopped(process) && this.#alive?.has(process) !== true)
  }

  /** Whether the process has not responded since its last renewal. */
  #hasStopped(process: string): boolean {
    const silence = this.#silences.get(process)
    return silence !== undefined && (this.#renewedAt.get(process) ?? 0) <= silence.since
  }

  /** Whether the directory should list a process, and does not. */
  #isMissing(process: string): boolean {
    if (process === this.#self) return false
    if (this.#alive === null || this.#alive.has(process) || this.#now() - this.#aliveSince < newMs) return false
    return !this.#seenSince.has(process) || this.seenMs(process) > newMs
  }

  /** Notes a refused connection. Two mean that the process has ended; one is enough if it seems gone anyway. */
  refused(process: string): void {
    const count = (this.#refusals.get(process) ?? 0) + 1
    this.#refusals.set(process, count)
    if (count < 2 && !this.isGone(process)) return
    this.#goneUntil.set(process, this.#now() + goneMs)
    this.#notify(this.#shardsOf(process))
  }

  /** Notes that a process has not responded for `forMs`: it or the network is stalled, as its next renewal shows. */
  silent(process: string, forMs: number): void {
    const now = this.#now()
    const earlier = this.#silences.get(process)
    const since = earlier !== undefined && this.#hasStopped(process) ? earlier.since : now - forMs
    this.#silences.set(process, { since, foundAt: now })
    if (this.isGone(process)) this.#notify(this.#shardsOf(process))
  }

  /**
   * Classifies a process that did not respond a moment ago: `separated` when it keeps renewing, so that other processes may
   * reach it; `unclear` until that is known; undefined when it may be called.
   */
  silenceOf(process: string): 'separated' | 'unclear' | undefined {
    const silence = this.#silences.get(process)
    if (silence === undefined || this.#now() - silence.foundAt > silentMs) return undefined
    return this.#hasStopped(process) ? 'unclear' : 'separated'
  }

  /** Notes that the operating system reports the process as ended. @returns whether that is new. */
  ended(process: string): boolean {
    if (this.#endedSince.has(process) || this.#neverEnded.has(process)) return false
    this.#endedSince.set(process, this.#now())
    this.#notify(this.#shardsOf(process))
    return true
  }

  /**
   * Updates the processes listed in the directory; null when that is unknown.
   * @returns whether a holder of shards is missing, so that the lease table should be read.
   */
  announced(alive: ReadonlySet<string> | null): boolean {
    const before = this.#alive
    this.#alive = alive
    if (alive === null) return false
    if (before === null) this.#aliveSince = this.#now()
    const missing = this.#holders().filter((process) => this.#isMissing(process))
    this.#notify(missing.filter((process) => this.isGone(process)).flatMap((process) => this.#shardsOf(process)))
    return missing.length > 0
  }

  /** Updates the view with the lease table as just read. */
  update({ leases, members }: LeaseTable): void {
    const before = this.#leases
    const next: (Lease | undefined)[] = new Array(this.#space.count).fill(undefined)
    for (const lease of leases) next[lease.shard] = lease
    this.#leases = next
    this.#members = members
    this.#renewed = new Set(
      leases.flatMap(({ holder, leftMs }) => (holder && leftMs > leaseMs - renewedMs ? [holder] : [])),
    )
    for (const { holder, leftMs } of leases) {
      const at = this.#now() - (leaseMs - leftMs)
      if (holder && at > (this.#renewedAt.get(holder) ?? 0)) this.#renewedAt.set(holder, at)
    }
    this.#note(members)
    for (const member of this.peers()) this.#levels.set(levelOf(member), this.#now())
    const changed: number[] = []
    for (const shard of this.#space.all()) {
      const now = next[shard]
      const free = !now || now.holder === null || now.leftMs <= 0 || this.isGone(now.holder)
      if (!free) this.#freeSince.delete(shard)
      else if (!this.#freeSince.has(shard)) this.#freeSince.set(shard, this.#now())
      if (now?.holder !== before[shard]?.holder || now?.epoch !== before[shard]?.epoch) changed.push(shard)
    }
    this.#notify(changed)
  }

  /** Calls `listener` at the next change of a shard's owner. The returned function removes it. */
  onChange(shard: number, listener: () => void): () => void {
    const listeners = this.#listeners.get(shard) ?? new Set()
    this.#listeners.set(shard, listeners.add(listener))
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) this.#listeners.delete(shard)
    }
  }

  /**
   * Drops wrong reports of ended processes. A process that keeps renewing has not ended: machines that are copies of
   * each other can mistake each other's processes for their own.
   */
  #goOn(present: ReadonlySet<string>): void {
    for (const [process, since] of this.#endedSince) {
      if (!present.has(process) || this.#now() - since < leaseMs + newMs) continue
      this.#endedSince.delete(process)
      this.#neverEnded.add(process)
    }
  }

  #note(members: readonly Member[]): void {
    const present = new Set(members.map(({ process }) => process))
    this.#goOn(present)
    for (const process of [...this.#seenSince.keys()]) {
      if (present.has(process)) continue
      this.#seenSince.delete(process)
      this.#refusals.delete(process)
      this.#silences.delete(process)
      this.#renewedAt.delete(process)
      this.#goneUntil.delete(process)
      this.#endedSince.delete(process)
      this.#neverEnded.delete(process)
    }
    for (const { process } of members) if (!this.#seenSince.has(process)) this.#seenSince.set(process, this.#now())
    // two processes cannot listen at one address: the earlier one has ended
    for (const each of members) {
      const later = members.some(({ address, startedAt }) => address === each.address && startedAt > each.startedAt)
      if (later) this.#goneUntil.set(each.process, this.#now() + goneMs)
    }
  }

  #holders(): readonly string[] {
    return [...new Set(this.#leases.flatMap((lease) => (lease?.holder ? [lease.holder] : [])))]
  }

  #shardsOf(process: string): readonly number[] {
    return this.#leases.flatMap((lease) => (lease?.holder === process ? [lease.shard] : []))
  }

  #notify(shards: readonly number[]): void {
    if (shards.length > 0) this.onMove()
    for (const shard of shards) {
      const listeners = this.#listeners.get(shard)
      this.#listeners.delete(shard)
      for (const listener of listeners ?? []) listener()
    }
  }
}
