import type { ActorNews, FanOut } from '#storage/cluster-ports.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { LogTail } from '../log/log-tail.ts'
import type { Logger } from '../logger.ts'
import type { Feed, FeedState } from '../messages/feed.ts'
import type { Ownership } from '../recovery/ownership.ts'
import { maxAhead } from '../stream/shown-text.ts'
import type { LeaseView, ShardOwner } from './lease-view.ts'

const tickMs = 250
/** Interval of notifying the owner that a stream follows the actor, in ms; the owner forgets it after `followMs`. */
const followAgainMs = 2000
/**
 * Time without news after which the end of the log is read again, in ms: while the actor is busy, and while it is idle.
 */
const busyReadMs = 1000
const restReadMs = 5000
/** Number of logs read concurrently. */
const readsAtOnce = 64
/** How long an actor that no stream follows yet is remembered, in ms: its stream is about to start. */
const expectedMs = 3000

/** Dependencies of `RemoteFeeds`. */
export interface RemoteFeedsParts {
  /** Id of this process. */
  readonly self: string
  readonly feed: Feed
  readonly view: LeaseView
  readonly fanOut: FanOut
  /** Notifies a process that these actors' logs are followed here. @throws {StoreUnavailable} */
  readonly request: (owner: ShardOwner, actors: readonly string[]) => Promise<unknown>
  /** Reads the state of an actor's log; null when the log was removed. @throws {StoreUnavailable} */
  readonly head: (actor: string) => Promise<FeedState | null>
  readonly held: Pick<Ownership, 'space' | 'heldUnder'>
  readonly clock: Clock
  readonly log: Logger
}

interface Followed {
  readonly shard: number
  readonly since: number
  standing: FeedState | undefined
  /** Last time at which the end of the log was known, by news or by reading. */
  knownAt: number
  /** The owner that was notified; `notifiedAt` has the time. */
  notified: string | undefined
  notifiedAt: number
  reading: boolean
  /** The newest events received. */
  readonly tail: LogTail
}

/**
 * Streams in this process of actors that other processes run. Commits arrive as news; news that is lost on the way is
 * recovered from the log. A stream continues when its actor moves to another process.
 */
export class RemoteFeeds {
  readonly #parts: RemoteFeedsParts
  readonly #followed = new Map<string, Followed>()
  #cancel: (() => void) | undefined
  #notifying = false
  #stopped = false

  constructor(parts: RemoteFeedsParts) {
    this.#parts = parts
    parts.fanOut.listen(parts.self, (news) => {
      for (const each of news) this.#hear(each)
    })
    parts.fanOut.onUp(() => this.#readAll())
    parts.view.onMove = () => this.#notifySoon()
  }

  /** Starts following an actor that another process runs, for a stream here. */
  watch(actor: string, standing?: FeedState): void {
    const entry = this.#entry(actor)
    entry.standing ??= standing
    if (entry.notified === undefined) this.#notifySoon()
  }

  /** Watches an actor that is followed here. If the stream is fresh, the known state is forgotten and read again. */
  followed(actor: string, isFresh: boolean): void {
    if (isFresh) this.#readAgain(actor)
    this.watch(actor)
  }

  /** Notes that a delivery notifies the owner of a stream that is about to follow the actor here. */
  expect(actor: string, owner: string): void {
    const entry = this.#entry(actor)
    entry.notified = owner
    entry.notifiedAt = this.#parts.clock.steady()
  }

  /** Records commits and log state from the owner, for a stream that is about to follow the actor here. */
  committed(actor: string, events: readonly LogEvent[], standing: FeedState): void {
    const entry = this.#entry(actor)
    if (standing.lastSequence < (entry.standing?.lastSequence ?? 0)) return
    entry.tail.remember(events)
    entry.standing = standing
    entry.knownAt = this.#parts.clock.steady()
  }

  /** Notes the state of an actor's log in the store, of which no news may have arrived. */
  learned(actor: string, standing: FeedState): void {
    const entry = this.#followed.get(actor)
    if (entry !== undefined) this.#learn(actor, entry, standing)
  }

  /** Returns every event after `after`, if recent news has them all; undefined when the store has to be read. */
  eventsAfter(actor: string, after: number): readonly LogEvent[] | undefined {
    const entry = this.#followed.get(actor)
    const { clock, fanOut } = this.#parts
    if (entry?.standing === undefined || !fanOut.up || clock.steady() - entry.knownAt >= busyReadMs) return undefined
    return entry.tail.after(after, entry.standing.lastSequence)
  }

  /** Stops following an actor whose shard is held here now. */
  forget(actor: string): void {
    this.#followed.delete(actor)
  }

  /** Returns the state of the actor's log. After `unknown`, the log is read and `Feed.recheck` is called. */
  standing(actor: string): FeedState | 'unknown' {
    const entry = this.#followed.get(actor)
    // a state older than the newest event that was delivered is stale
    if (entry?.standing !== undefined && entry.standing.lastSequence >= this.#parts.feed.shown(actor))
      return entry.standing
    if (entry !== undefined) entry.knownAt = Number.NEGATIVE_INFINITY
    return 'unknown'
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  /** Notifies owners at the end of this event loop turn, so that actors first followed in one turn share a request. */
  #notifySoon(): void {
    if (this.#notifying || this.#followed.size === 0) return
    this.#notifying = true
    this.#parts.clock.soon(() => {
      this.#notifying = false
      this.#notifyOwners()
    })
  }

  #readAgain(actor: string): void {
    const entry = this.#followed.get(actor)
    if (entry === undefined) return
    entry.standing = undefined
    void this.#read(actor, entry)
  }

  #entry(actor: string): Followed {
    const known = this.#followed.get(actor)
    if (known !== undefined) return known
    const now = this.#parts.clock.steady()
    const entry: Followed = {
      shard: this.#parts.held.space.of(actor),
      since: now,
      standing: undefined,
      knownAt: now,
      notified: undefined,
      notifiedAt: Number.NEGATIVE_INFINITY,
      reading: false,
      tail: new LogTail(maxAhead),
    }
    this.#followed.set(actor, entry)
    this.#plan()
    return entry
  }

  #plan(): void {
    if (this.#stopped) return
    this.#cancel ??= this.#parts.clock.after(tickMs, () => {
      this.#cancel = undefined
      this.#tick()
      if (this.#followed.size > 0) this.#plan()
    })
  }

  #tick(): void {
    const { clock, feed } = this.#parts
    const now = clock.steady()
    for (const [actor, { since }] of this.#followed) {
      if (!feed.follows(actor) && now - since > expectedMs) this.#followed.delete(actor)
    }
    this.#notifyOwners()
    const due = [...this.#followed].filter(
      ([actor, entry]) => !entry.reading && now - entry.knownAt >= this.#readMs(entry) && feed.follows(actor),
    )
    for (const [actor, entry] of due.slice(0, readsAtOnce)) void this.#read(actor, entry)
  }

  #readMs({ standing }: Followed): number {
    if (!this.#parts.fanOut.up || standing === undefined) return tickMs
    return standing.busy ? busyReadMs : restReadMs
  }

  /** Sends each owner one request, for all its actors of which it was not notified recently. */
  #notifyOwners(): void {
    const { clock, feed, view, held } = this.#parts
    const now = clock.steady()
    const byProcess = new Map<string, { owner: ShardOwner; actors: string[] }>()
    for (const [actor, entry] of this.#followed) {
      const owner =
        held.heldUnder(entry.shard) !== undefined || !feed.follows(actor) ? undefined : view.ownerOf(entry.shard)
      if (owner === undefined || (entry.notified === owner.process && now - entry.notifiedAt < followAgainMs)) continue
      const group = byProcess.get(owner.process) ?? { owner, actors: [] }
      byProcess.set(owner.process, group)
      group.actors.push(actor)
    }
    for (const { owner, actors } of byProcess.values()) void this.#notify(owner, actors)
  }

  async #notify(owner: ShardOwner, actors: readonly string[]): Promise<void> {
    const fresh = actors.filter((actor) => this.#followed.get(actor)?.notified !== owner.process)
    const notifiedAt = this.#parts.clock.steady()
    for (const actor of actors) {
      const entry = this.#followed.get(actor)
      if (entry) Object.assign(entry, { notified: owner.process, notifiedAt })
    }
    try {
      await this.#parts.request(owner, actors)
    } catch (error) {
      this.#parts.log.debug({ owner: owner.process, err: error }, 'owner not told of followers, trying again')
      for (const actor of actors) {
        const entry = this.#followed.get(actor)
        if (entry?.notified === owner.process) entry.notified = undefined
      }
      return
    }
    // reads what was committed before the owner was notified
    for (const actor of fresh) {
      const entry = this.#followed.get(actor)
      if (entry) void this.#read(actor, entry)
    }
  }

  #hear({ actor, events, busy, lastSequence }: ActorNews): void {
    const entry = this.#followed.get(actor)
    if (entry === undefined || this.#parts.held.heldUnder(entry.shard) !== undefined) return
    // a newer state may be known already, by an answer that overtook the news
    if (lastSequence >= (entry.standing?.lastSequence ?? 0)) {
      entry.standing = { busy, lastSequence }
      entry.knownAt = this.#parts.clock.steady()
    }
    entry.tail.remember(events)
    if (events.length > 0) this.#parts.feed.publish(actor, events)
    else this.#parts.feed.refresh(actor)
  }

  async #read(actor: string, entry: Followed): Promise<void> {
    entry.reading = true
    try {
      const standing = await this.#parts.head(actor)
      entry.knownAt = this.#parts.clock.steady()
      if (this.#followed.get(actor) === entry) this.#learn(actor, entry, standing)
    } catch (error) {
      this.#parts.log.debug({ actorId: actor, err: error }, 'end of a log not read, trying again')
    } finally {
      entry.reading = false
    }
  }

  #learn(actor: string, entry: Followed, standing: FeedState | null): void {
    const { feed } = this.#parts
    if (standing === null) {
      this.#followed.delete(actor)
      feed.end(actor, 'deleted')
      return
    }
    const before = entry.standing
    if (before !== undefined && standing.lastSequence < before.lastSequence) return
    entry.standing = standing
    if (standing.lastSequence > (before?.lastSequence ?? 0)) feed.refresh(actor)
    else if (standing.busy !== before?.busy) feed.recheck(actor)
  }

  #readAll(): void {
    for (const entry of this.#followed.values()) entry.knownAt = Number.NEGATIVE_INFINITY
  }
}
