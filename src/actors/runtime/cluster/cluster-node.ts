import { definitionOf } from '#machines/definition-of.ts'
import { isBusy } from '#machines/status.ts'
import type { FanOut, LeaseStore, Member, Presence } from '#storage/cluster-ports.ts'
import type { LogEvent } from '#storage/ports.ts'
import { readActor } from '../activation.ts'
import { pause, within } from '../clock.ts'
import { NotOwner, Superseded } from '../commit/superseded.ts'
import type { Host, HostOptions } from '../host.ts'
import { streamPage } from '../log/log-page.ts'
import type { FeedState } from '../messages/feed.ts'
import {
  deliveredOf,
  type PeerAnswer,
  PeerGone,
  type PeerRequest,
  type PeerService,
  type Peers,
} from '../messages/peers.ts'
import type { WorkPlace } from '../messages/placed-work.ts'
import { isActorId, loadMade, untilMade } from '../recovery/made-actors.ts'
import { type Creation, type Delivered, type Delivery, effectOf, type Resident } from '../resident.ts'
import { readStoredState } from '../step/actor-state.ts'
import type { HeldShards } from './held-shards.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { LeaseView } from './lease-view.ts'
import { memberOf } from './member-of.ts'
import { peerService } from './peer-service.ts'
import { RemoteFeeds } from './remote-feeds.ts'
import { RemoteFollowers } from './remote-followers.ts'
import { Router } from './router.ts'
import { RowsElsewhere } from './rows-elsewhere.ts'
import { ShardDrains } from './shard-drains.ts'
import { workPlaces } from './work-places.ts'

/** Dependencies with which a process joins a cluster. */
export interface ClusterParts {
  readonly leases: LeaseStore
  readonly presence: Presence
  readonly fanOut: FanOut
  readonly peers: Peers
  /** Name of the node, and the address at which its peers reach it (`host:port`). */
  readonly self: Pick<Member, 'node' | 'address' | 'mark'>
  /** Whether this machine knows that the process with this mark has ended; absent where it cannot know. */
  readonly hasEnded?: (mark: string) => boolean
  /** Called with the service that answers peers, before this process is a member. */
  readonly serve: (service: PeerService) => void
}

/** Dependencies of a `ClusterNode`. */
export interface ClusterNodeParts extends Pick<HostOptions, 'storage' | 'definitions' | 'clock' | 'log'> {
  readonly host: Host
  readonly held: HeldShards
  readonly cluster: ClusterParts
}

/** How long a list waits for the rows of a process that does not answer, in ms. */
const rowsMs = 250
/** How long the handover of a shard waits for rows that cannot be written, in ms; the next owner writes them. */
const flushMs = 2000
const pollMs = 50
/** Followed actors that are loaded in one turn of the loop. */
const resumedAtOnce = 32

/** One process of a cluster: sends its host's requests to the other processes, and answers theirs. */
export class ClusterNode {
  readonly keeper: LeaseKeeper
  readonly router: Router
  readonly #parts: ClusterNodeParts
  readonly #self: Omit<Member, 'draining'>
  readonly #view: LeaseView
  readonly #feeds: RemoteFeeds
  readonly #followers: RemoteFollowers
  readonly #rows: RowsElsewhere
  readonly #drains: ShardDrains
  #nextShard = 0

  constructor(parts: ClusterNodeParts) {
    const { host, held, cluster, clock, log, definitions } = parts
    this.#parts = parts
    this.#self = memberOf(parts)
    this.#view = new LeaseView(this.#self.process, () => clock.steady(), held.space)
    this.#followers = new RemoteFollowers(cluster.fanOut, clock, host)
    this.#rows = new RowsElsewhere(() => this.#requestRows())
    this.#drains = new ShardDrains({
      held,
      clock,
      busyShards: () => this.#busyShards(),
      flush: () => this.#flush(),
      release: (shards) => this.#release(shards),
      reopened: (shards) => host.resumeShards(shards),
    })
    this.keeper = new LeaseKeeper({
      ...cluster,
      ...{ self: this.#self, held, view: this.#view, clock, log },
      facts: () => ({ shards: held.shards.length, liveActors: host.live, runningEffects: host.effects.running }),
      gained: (shards) => this.#gained(shards),
      lost: (shards) => this.#lost(shards),
      misplaced: (surplus) => this.#drains.offer(surplus),
    })
    this.router = new Router({
      ...cluster,
      held,
      view: this.#view,
      clock,
      storeFails: () => this.keeper.failing,
      doubt: () => this.doubt(),
    })
    this.#feeds = new RemoteFeeds({
      ...cluster,
      self: this.#self.process,
      feed: host.feed,
      view: this.#view,
      clock,
      log,
      request: (owner, actors) => this.#requestToFollow(owner, actors),
      head: (actor) => this.#headOf(actor),
      held,
    })
    cluster.peers.onLost?.((address) => void this.#onLost(address))
    cluster.serve(
      peerService({
        host,
        definitions,
        followers: this.#followers,
        made: (actor) => untilMade(this.#parts, actor),
        doubt: () => this.doubt(),
      }),
    )
  }

  /** Which processes seem to have ended, and how many run: only speed depends on that being right. */
  get processes() {
    return this.#view.processes
  }

  /** This process, as other members see it. */
  get self(): Member {
    return this.keeper.self
  }

  /**
   * Drains this process: no new effect starts here, each shard is given back as soon as nothing runs in it, and all of
   * them after `graceMs`. Streams of turns that continue on other processes may use the rest of that time to end.
   */
  async drain(graceMs: number): Promise<void> {
    const { clock, host } = this.#parts
    const until = clock.steady() + graceMs
    this.keeper.beginDrain()
    await this.#drains.all(graceMs)
    await this.keeper.settled()
    while (host.feed.size > 0 && clock.steady() < until) await pause(clock, pollMs)
  }

  /** Leaves the cluster. */
  async stop(): Promise<void> {
    this.#feeds.stop()
    await this.keeper.stop()
  }

  /**
   * Delivers an event to the process that runs the actor, which may be this one. Like `create`, `delivered` and `read`,
   * it waits for a limited time for an actor that is moving between two processes.
   *
   * @param following the caller will follow the actor's log.
   * @throws {StoreUnavailable} when that takes too long; what the owner throws.
   */
  deliver(id: string, delivery: Delivery, following: boolean): Promise<Delivered> {
    const { held, host } = this.#parts
    const here = (): Promise<Delivered> => host.deliverHere(id, delivery)
    if (effectOf(delivery) !== undefined) return this.#bring(id, here)
    const { event, cause, stored } = delivery
    const sent = { event, cause, ...(stored !== undefined && { stored }) }
    const request = (): PeerRequest => {
      const owner = following ? this.#view.ownerOf(held.space.of(id)) : undefined
      if (owner === undefined || this.#holds(id)) {
        return { kind: 'deliver', actor: id, delivery: sent }
      }
      this.#feeds.expect(id, owner.process)
      return { kind: 'deliver', actor: id, delivery: sent, follower: this.#self.process }
    }
    const answered = (answer: PeerAnswer): Delivered => {
      const result = deliveredOf(answer)
      if (answer.kind === 'told' && answer.standing !== undefined) {
        this.#feeds.committed(id, result.commit?.events ?? [], answer.standing)
      }
      return result
    }
    return this.router.route(id, { here, request, answered })
  }

  /** Creates an actor on the process that holds its shard. */
  create(creation: Creation): Promise<Delivered> {
    const { kind, id, again, ...made } = creation
    return this.router.route(id, {
      here: () => this.#parts.host.createHere(creation),
      request: () => ({ kind: 'create', machine: kind.name, actor: id, ...made, ...(again && { again }) }),
      answered: deliveredOf,
    })
  }

  /** Resolves when the messages that an actor has sent are delivered, wherever it runs. */
  async delivered(id: string): Promise<void> {
    await this.router.route(id, {
      here: async () => {
        await untilMade(this.#parts, id)
        await this.#parts.host.deliveredHere(id)
      },
      request: () => ({ kind: 'delivered', actor: id }),
      answered: () => undefined,
    })
  }

  /** Returns the actor from memory, or as read from the store when another process runs it; null when there is none. */
  async read(id: string): Promise<Resident | null> {
    const { held, definitions, host } = this.#parts
    if (held.isFresh(held.space.of(id)) && host.resident(id)?.unsure !== true) {
      try {
        return await loadMade(this.#parts, id)
      } catch (error) {
        if (!(error instanceof Superseded)) throw error
      }
    }
    const read = await this.#readStored(id)
    if (read !== null || !isActorId(definitions, id)) return read
    // it may be about to be created: a message that requests it may be in flight to where it will run
    await this.delivered(id)
    return this.#readStored(id)
  }

  /** Reads the actor from the store, and drops what is known here of an earlier state of its log. */
  async #readStored(id: string): Promise<Resident | null> {
    const read = await readActor(this.#parts, id)
    if (read === null) return null
    this.#parts.host.dropOutdated(read)
    this.#feeds.learned(id, { busy: read.busy, lastSequence: read.state.lastSequence })
    return read
  }

  /** Returns events of an actor that another process runs. */
  async readLog(id: string, after: number): Promise<readonly LogEvent[]> {
    const { storage } = this.#parts
    const known = this.#feeds.eventsAfter(id, after)
    if (known !== undefined) return known
    let head: Promise<string> | undefined
    const project = () => (head ??= storage.commits.head(id).then((commit) => commit?.project ?? ''))
    return streamPage({ storage, actor: id, project }, after)
  }

  /** Returns a shard in which a new actor runs on this process; undefined when there is none, and any shard will do. */
  localShard(): number | undefined {
    const { held } = this.#parts
    const { shards } = held
    for (let tried = 0; tried < shards.length; tried++) {
      const shard = shards[this.#nextShard++ % shards.length]
      if (shard !== undefined && held.opens(shard) && held.epochOf(shard) !== undefined) return shard
    }
    return undefined
  }

  /** The processes that may do work of a key, first the one that should. */
  placesOf(key: string): readonly WorkPlace[] {
    return workPlaces(key, { peers: this.#view.peers(), self: this.self, router: this.router })
  }

  /** Resolves when other processes have written the rows of all that they acknowledged, or after a timeout. */
  rowsElsewhere(): Promise<void> {
    return this.#rows.shown()
  }

  /** Notifies followers of a durable commit of an actor of this process. Call it in order. */
  committed(resident: Resident, events: readonly LogEvent[]): void {
    this.#followers.committed(resident, events)
  }

  /** Notifies followers of text that is not durable yet. */
  shown(resident: Resident, events: readonly LogEvent[]): void {
    this.#followers.shown(resident, events)
  }

  /** State of the log of an actor that is not in memory here. */
  standing(id: string): FeedState | 'unknown' {
    if (!this.#holds(id)) return this.#feeds.standing(id)
    // the actor has to be loaded to find out, which then refreshes its streams
    this.#parts.host.revive(id, true)
    return 'unknown'
  }

  /** Called when the first stream of an actor starts in this process. */
  followed(id: string, isFresh: boolean): void {
    if (!this.#holds(id)) this.#feeds.followed(id, isFresh)
  }

  #holds(id: string): boolean {
    return this.#parts.held.heldUnder(this.#parts.held.space.of(id)) !== undefined
  }

  /** Reads the leases soon, because they seem to have changed. */
  doubt(): void {
    this.keeper.soon()
  }

  /**
   * Delivers the result of an effect in this process only, which ran it. If the shard has moved, the result is dropped:
   * the next owner runs the effect itself, or reports its result as unknown.
   */
  async #bring(id: string, here: () => Promise<Delivered>): Promise<Delivered> {
    const late: Delivered = { commit: null, duplicate: false }
    if (!this.#holds(id)) return late
    try {
      return await here()
    } catch (error) {
      if (error instanceof NotOwner && !this.#holds(id)) return late
      throw error
    }
  }

  #busyShards(): ReadonlySet<number> {
    const { host } = this.#parts
    const busy = new Set(host.effects.shards())
    for (const resident of host.residents()) if (resident.working) busy.add(resident.shard)
    return busy
  }

  async #flush(): Promise<void> {
    const { host, clock } = this.#parts
    await Promise.race([host.rows.settled(), pause(clock, flushMs)])
    await host.settler.flush()
  }

  #release(shards: ReadonlySet<number>): void {
    this.#parts.host.loseShards(shards)
    this.keeper.release(shards)
    this.#watchLeft(shards)
  }

  #lost(shards: ReadonlySet<number>): void {
    this.#drains.forget(shards)
    this.#parts.host.loseShards(shards)
    this.#watchLeft(shards)
  }

  /** Lets the streams here of actors that moved continue with notifications from the new owner. */
  #watchLeft(shards: ReadonlySet<number>): void {
    for (const actor of this.#parts.host.feed.followed())
      if (shards.has(this.#parts.held.space.of(actor))) this.#feeds.watch(actor)
  }

  #gained(shards: readonly number[]): void {
    const { host, held } = this.#parts
    const here = new Set(shards)
    this.#resume(host.feed.followed().filter((actor) => here.has(held.space.of(actor))))
    host.recovery.begin(shards)
  }

  /** Loads actors that streams here follow, some in each turn of the loop: thousands would hold up everything else. */
  #resume(actors: readonly string[]): void {
    for (const actor of actors.slice(0, resumedAtOnce)) {
      if (!this.#holds(actor)) continue
      this.#feeds.forget(actor)
      this.#parts.host.revive(actor, true)
    }
    if (actors.length > resumedAtOnce) this.#parts.clock.soon(() => this.#resume(actors.slice(resumedAtOnce)))
  }

  /** Checks after a broken connection whether the process has ended: by its mark, or by two refused connections. */
  async #onLost(address: string): Promise<void> {
    this.keeper.check()
    for (const peer of this.#view.peers().filter((each) => each.address === address)) {
      const request = () => this.router.request(peer, { kind: 'rows' })
      await request()
        .catch((error: unknown) => (error instanceof PeerGone ? request() : undefined))
        .catch(() => undefined)
    }
  }

  async #requestRows(): Promise<void> {
    const { clock, log } = this.#parts
    await Promise.all(
      this.#view.peers().map((peer) =>
        within(clock, rowsMs, this.router.request(peer, { kind: 'rows' })).catch((error: unknown) => {
          log.debug({ peer: peer.process, err: error }, 'rows of another process not waited for')
        }),
      ),
    )
  }

  async #requestToFollow(owner: { readonly process: string; readonly address: string }, actors: readonly string[]) {
    const follower = this.#self.process
    const answer = await this.router.request(owner, { kind: 'follow', actors, follower })
    if (answer.kind !== 'done') throw new NotOwner('it does not run all of these actors')
  }

  async #headOf(actor: string): Promise<FeedState | null> {
    const { storage, definitions } = this.#parts
    const head = await storage.commits.head(actor)
    const definition = definitionOf(definitions, actor)
    if (head === null || definition === undefined) return null
    return { busy: isBusy(definition, readStoredState(head)), lastSequence: head.last_sequence }
  }
}
