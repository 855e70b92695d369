import type { FanOut, HostFacts, Lease, LeaseStore, Member, Presence } from '#storage/cluster-ports.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { levelOf } from './able-owners.ts'
import { type HeldShards, leaseMs } from './held-shards.ts'
import type { LeaseView } from './lease-view.ts'
import { planFor, type Surplus } from './placement.ts'

/** Interval at which leases are renewed and read, in ms. */
const renewMs = 1000
/** Delay of the retry after a failure, in ms. */
const retryMs = 250
/** Delay of a round that was requested, in ms, so that several requests share one. */
const soonMs = 40
const announceMs = 500
const presenceMs = 1500
/** Interval at which processes of the same machine are checked, in ms. */
const pollMs = 100
/** How long a member has to be present before it is given shards, in ms. */
const settledMs = 2000
/**
 * A process that could not renew for longer than `outMs` takes no shard for `returnMs`: usually the store was
 * unavailable to all, and the others are about to renew their leases.
 */
const outMs = 2500
const returnMs = 1500

/** Dependencies of `LeaseKeeper`. */
export interface LeaseKeeperParts {
  readonly self: Omit<Member, 'draining'>
  readonly leases: LeaseStore
  readonly presence: Presence
  readonly fanOut: FanOut
  /** Whether this machine knows that the process with this mark has ended. */
  readonly hasEnded?: (mark: string) => boolean
  readonly held: HeldShards
  readonly view: LeaseView
  readonly facts: () => HostFacts
  /** Called with the shards that this process holds from now on. */
  readonly gained: (shards: readonly number[]) => void
  /** Called with the shards that another process has taken: no work of their actors may continue here. */
  readonly lost: (shards: ReadonlySet<number>) => void
  /** Called with the shards of which some should be handed over. */
  readonly misplaced: (surplus: readonly Surplus[]) => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Renews this process's leases, and takes shards without an owner (specs/decisions/0064-cluster.md). It calls the lease
 * store strictly one call after the other, so that no answer overtakes another.
 */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts
  readonly #giveBack = new Set<number>()
  #draining = false
  #stopped = false
  #round: Promise<void> | undefined
  #cancelRound: (() => void) | undefined
  #roundAt = Number.POSITIVE_INFINITY
  #cancelAnnounce: (() => void) | undefined
  #cancelCheck: (() => void) | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  #claimsFrom = 0
  /** Whether a round was requested during a round. */
  #wanted = false
  /** Whether this process's member record has changed and the store does not have it yet. */
  #unannounced = true
  #failing = false

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts
  }

  /** Whether the last round failed, because the lease store did not answer. */
  get failing(): boolean {
    return this.#failing
  }

  get self(): Member {
    return { ...this.#parts.self, draining: this.#draining }
  }

  /** Announces this process, reads the members and leases, and takes free shards. @throws {StoreUnavailable} */
  async start(): Promise<void> {
    const { fanOut } = this.#parts
    await this.#announce()
    await this.#work()
    fanOut.subscribe('leases', () => this.soon())
    this.#plan(renewMs)
    this.check()
  }

  /** Checks whether other processes of this machine have ended: their leases may be taken before they expire. */
  check(): void {
    const { hasEnded, view, clock } = this.#parts
    if (hasEnded === undefined || this.#stopped) return
    this.#cancelCheck?.()
    this.#cancelCheck = clock.after(pollMs, () => this.check())
    const ended = view
      .peers()
      .filter(({ mark, process }) => mark !== undefined && hasEnded(mark) && view.ended(process))
    if (ended.length > 0) this.soon()
  }

  /** Starts a round as soon as possible, because something has changed, or seems to have. */
  soon(): void {
    this.#plan(soonMs)
  }

  /** Takes no more shards; other processes take those that this one gives back. */
  beginDrain(): void {
    this.#draining = true
    this.#unannounced = true
    this.soon()
  }

  /** Gives shards back. No work of their actors may continue here. */
  release(shards: ReadonlySet<number>): void {
    for (const shard of shards) {
      if (this.#parts.held.heldUnder(shard) === undefined) continue
      this.#parts.held.drop(shard)
      this.#giveBack.add(shard)
    }
    this.soon()
  }

  /** Resolves when everything that was released is given back, or the store did not answer. */
  async settled(): Promise<void> {
    await this.#round
    if (this.#giveBack.size > 0) await this.#run()
  }

  /** Gives back all leases and leaves the cluster. */
  async stop(): Promise<void> {
    const { leases, presence, fanOut, self, log } = this.#parts
    this.#stopped = true
    this.#cancelRound?.()
    this.#cancelAnnounce?.()
    this.#cancelCheck?.()
    await this.#round
    await Promise.all([
      presence.withdraw(self.process),
      leases.leave(self.process).catch((error: unknown) => log.warn({ err: error }, 'leases not given back')),
    ])
    fanOut.announce('leases', {})
  }

  #plan(ms: number): void {
    const { clock } = this.#parts
    const at = clock.steady() + ms
    if (this.#stopped || at >= this.#roundAt) return
    this.#roundAt = at
    this.#cancelRound?.()
    this.#cancelRound = clock.after(ms, () => void this.#run())
  }

  /** Runs one round at a time; a failure is left to the next one. */
  #run(): Promise<void> {
    this.#cancelRound?.()
    this.#roundAt = Number.POSITIVE_INFINITY
    if (this.#round !== undefined) this.#wanted = true
    this.#round ??= this.#attempt().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  async #attempt(): Promise<void> {
    this.#wanted = false
    try {
      await this.#work()
      const nextMs = Math.max(0, this.#renewedAt + renewMs - this.#parts.clock.steady())
      this.#plan(this.#wanted ? Math.min(soonMs, nextMs) : nextMs)
    } catch (error) {
      this.#failing = true
      this.#parts.log.warn({ err: error }, 'leases not renewed, trying again')
      this.#plan(retryMs)
    }
  }

  async #work(): Promise<void> {
    const { leases, view } = this.#parts
    await this.#renew()
    await this.#returnShards()
    view.update(await leases.read())
    this.#failing = false
    await this.#place()
  }

  /** Renews the leases, unless that was done less than half an interval ago. */
  async #renew(): Promise<void> {
    const { leases, held, clock } = this.#parts
    const sentAt = clock.steady()
    const sinceMs = sentAt - this.#renewedAt
    if (sinceMs < renewMs / 2 && !this.#unannounced) return
    this.#unannounced = false
    const mine = await leases.renew(this.self, leaseMs)
    if (sinceMs > outMs && Number.isFinite(sinceMs)) this.#claimsFrom = clock.steady() + returnMs
    this.#renewedAt = sentAt
    const byShard = new Map(mine.map((lease) => [lease.shard, lease]))
    const lost = held.shards.filter((shard) => byShard.get(shard)?.epoch !== held.heldUnder(shard))
    this.#lose(new Set(lost))
    // this also finds an acquisition whose answer was lost
    this.#take(
      mine.filter(({ shard }) => !this.#giveBack.has(shard)),
      sentAt,
    )
  }

  async #returnShards(): Promise<void> {
    const { leases, self, fanOut } = this.#parts
    const shards = [...this.#giveBack]
    if (shards.length === 0) return
    await leases.release(self.process, shards)
    for (const shard of shards) this.#giveBack.delete(shard)
    fanOut.announce('leases', {})
  }

  async #place(): Promise<void> {
    const { leases, view, self, held, clock, misplaced, fanOut } = this.#parts
    const { claims, handOver } = planFor({
      self: self.process,
      members: [...view.peers(), this.self],
      leases: view.leases,
      isGone: (process) => view.isGone(process),
      freeMs: (shard) => view.freeMs(shard),
      absentMs: (level) => view.absentMs(level),
      isSettled: (process) => view.seenMs(process) >= settledMs,
    })
    misplaced(handOver)
    if (claims.length === 0 || clock.steady() < this.#claimsFrom) return
    const sentAt = clock.steady()
    const isLeft = (shard: number): boolean => (view.leases[shard]?.holder ?? null) !== null
    held.expectCrashed(claims.map(({ shard }) => shard).filter(isLeft))
    const taken = await leases.acquire(this.self, claims, {
      floor: held.epoch,
      ms: leaseMs,
      level: levelOf(this.self),
    })
    this.#take(taken, sentAt)
    if (taken.length === 0) return
    // streams in other processes follow the actors from here on
    fanOut.announce('leases', {})
    view.update(await leases.read())
  }

  #take(leases: readonly Lease[], sentAt: number): void {
    const { held, gained, log } = this.#parts
    const shards = leases.filter((lease) => this.#keep(lease, sentAt)).map(({ shard }) => shard)
    if (shards.length === 0) return
    log.info({ shards: shards.length, held: held.shards.length }, 'shards taken')
    gained(shards)
  }

  /** Records a lease; returns whether it is new. A shard gained while draining is given back unused. */
  #keep(lease: Lease, sentAt: number): boolean {
    const { held } = this.#parts
    if (!this.#draining || held.heldUnder(lease.shard) === lease.epoch) return held.take(lease, sentAt)
    this.#giveBack.add(lease.shard)
    this.soon()
    return false
  }

  #lose(shards: ReadonlySet<number>): void {
    const { held, lost, log } = this.#parts
    if (shards.size === 0) return
    for (const shard of shards) held.drop(shard)
    log.warn({ shards: shards.size, held: held.shards.length }, 'shards lost to another process')
    lost(shards)
  }

  /** Announces this process periodically until it stops, even while the directory is unavailable. */
  async #announce(): Promise<void> {
    const { presence, facts, view, clock } = this.#parts
    const { connectedTo: redis } = presence
    await presence.announce(this.self, { ...facts(), ...(redis !== undefined && { redis }) }, presenceMs)
    if (view.announced(await presence.alive(this.self))) this.soon()
    if (!this.#stopped) this.#cancelAnnounce = clock.after(announceMs, () => void this.#announce())
  }
}
