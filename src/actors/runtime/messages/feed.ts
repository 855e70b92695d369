import { type LogEvent, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { EventSink, EventStream, StreamControl, StreamEnding } from './event-stream.ts'
import { plainSlices, type Slices } from './slices.ts'

/** Maximum number of an actor's commits that wait until all its followers have the previous one. */
const maxWaiting = 64

/** Source of the log events that a stream has missed. */
export interface EventReader {
  /** Returns events after `after`, ascending: from memory, or a promise from the store; at most some hundreds. */
  read(actor: string, after: number): readonly LogEvent[] | Promise<readonly LogEvent[]>
  /**
   * Returns the state of the actor's log: undefined when the actor is not live; `unknown` when it is not known yet,
   * after which `refresh` or `recheck` is called.
   */
  standing(actor: string): FeedState | 'unknown' | undefined
  /**
   * Called when the first stream of an actor starts, and with `isFresh` when any stream does for which a known state is
   * too old.
   */
  followed?(actor: string, isFresh: boolean): void
}

/** Whether a turn or run of an actor is in progress, and the newest sequence of its log. */
export interface FeedState {
  readonly busy: boolean
  readonly lastSequence: number
}

/** Dependencies of a `Feed`. */
export interface FeedOptions {
  readonly log: Logger
  /** For retries: streams stay open during an outage of the store, and read the log again later. */
  readonly clock: Pick<Clock, 'after'>
  readonly slices?: Slices | undefined
}

/** When a stream ends. `idle`: once it has caught up with an actor that is not busy. */
export interface StreamEnd {
  readonly at: 'idle' | 'never'
  /** Also ends the stream after an event for which this returns true. */
  readonly after?: (event: LogEvent) => boolean
  /**
   * The actor has just been changed by another one: a state that another process reported earlier does not show that it
   * is idle.
   */
  readonly isFresh?: boolean
}

/**
 * Live streams of actors' logs. A follower reads the log after its last event, then gets new events as they are
 * committed. When it sees a gap, or its consumer was slow, it reads the log again. So no event is missed or repeated,
 * and a consumer that stalls costs only its position.
 */
export class Feed {
  readonly #reader: EventReader
  readonly #log: Logger
  readonly #clock: Pick<Clock, 'after'>
  readonly #slices: Slices
  readonly #followers = new Map<string, Set<Follower>>()
  /** Commits that wait, by actor, until the last followers have the previous commit. */
  readonly #waiting = new Map<string, (readonly LogEvent[])[]>()

  constructor(reader: EventReader, { log, clock, slices = plainSlices }: FeedOptions) {
    this.#slices = slices
    this.#clock = clock
    this.#reader = reader
    this.#log = log
  }

  /** Number of open streams. */
  get size(): number {
    let count = 0
    for (const set of this.#followers.values()) count += set.size
    return count
  }

  /**
   * Publishes a commit to the actor's followers. Call it in order, after the commit is durable. When there are many
   * followers, the last of them get it in a later turn of the event loop, and so do the commits after it.
   */
  publish(actor: string, events: readonly LogEvent[]): void {
    const followers = this.#followers.get(actor)
    if (followers === undefined) return
    const waiting = this.#waiting.get(actor)
    if (waiting === undefined) this.#deliver(actor, followers, events)
    // a commit beyond the limit is dropped: followers see a gap, and read the log
    else if (waiting.length < maxWaiting) waiting.push(events)
  }

  /** Makes followers read the log: the actor was loaded, and there may be commits of which they were not notified. */
  refresh(actor: string): void {
    for (const follower of this.#followers.get(actor) ?? []) follower.refresh()
  }

  /** Notifies followers that the actor's state has changed without an event, or has become known. */
  recheck(actor: string): void {
    for (const follower of [...(this.#followers.get(actor) ?? [])]) follower.recheck()
  }

  /** Whether a stream follows an actor. */
  follows(actor: string): boolean {
    return this.#followers.has(actor)
  }

  /** Sequence of the newest event that any stream of an actor has delivered; 0 for none. */
  shown(actor: string): number {
    let newest = 0
    for (const { last } of this.#followers.get(actor) ?? []) newest = Math.max(newest, last)
    return newest
  }

  /** The actors that are followed. */
  followed(): readonly string[] {
    return [...this.#followers.keys()]
  }

  /** Ends every stream of an actor. */
  end(actor: string, reason: StreamEnding): void {
    for (const follower of [...(this.#followers.get(actor) ?? [])]) follower.finish(reason)
  }

  /** Ends all streams, so that their readers resume in another process. */
  loseAll(): void {
    for (const actor of this.followed()) this.end(actor, 'lost')
  }

  /** Returns a stream of the events after sequence `after`. Nothing is read until the stream is started. */
  follow(actor: string, after: number, end: StreamEnd): EventStream {
    return {
      after,
      start: (sink: EventSink): StreamControl => {
        const follower = new Follower({
          actor,
          after,
          end,
          sink,
          reader: this.#reader,
          leave: () => this.#leave(actor, follower),
          log: this.#log,
          clock: this.#clock,
        })
        const set = this.#followers.get(actor) ?? new Set<Follower>()
        this.#followers.set(actor, set.add(follower))
        const isFresh = end.isFresh ?? false
        if (set.size === 1 || isFresh) this.#reader.followed?.(actor, isFresh)
        follower.catchUp()
        return { resume: () => follower.resume(), stop: () => this.#leave(actor, follower) }
      },
    }
  }

  #deliver(actor: string, followers: ReadonlySet<Follower>, events: readonly LogEvent[]): void {
    if (followers.size === 1) {
      for (const follower of followers) follower.live(events)
      return
    }
    const later = this.#slices.forEach(followers, (follower) => follower.live(events))
    if (later !== null) void this.#deliverLater(actor, later)
  }

  async #deliverLater(actor: string, first: Promise<void>): Promise<void> {
    const waiting: (readonly LogEvent[])[] = []
    this.#waiting.set(actor, waiting)
    try {
      await first
      // one commit per turn: many short ones block the event loop no longer than one long one
      for (let events = waiting.shift(); events !== undefined; events = waiting.shift()) {
        await this.#slices.next()
        await this.#slices.forEach(this.#followers.get(actor) ?? [], (follower) => follower.live(events))
      }
    } catch (error) {
      this.#log.error(
        { actorId: actor, err: error },
        'commits not given to all followers: they see a hole with the next',
      )
    } finally {
      this.#waiting.delete(actor)
    }
  }

  #leave(actor: string, follower: Follower): void {
    follower.over = true
    const set = this.#followers.get(actor)
    if (!set?.delete(follower) || set.size > 0) return
    this.#followers.delete(actor)
  }
}

type Mode = 'live' | 'reading' | 'blocked'

/** Dependencies of one stream: actor, start position, sink, and source of events. */
interface FollowerParts {
  readonly actor: string
  readonly after: number
  readonly end: StreamEnd
  readonly sink: EventSink
  readonly reader: EventReader
  readonly leave: () => void
  readonly log: Logger
  readonly clock: Pick<Clock, 'after'>
}

class Follower {
  over = false
  readonly #actor: string
  readonly #end: StreamEnd
  readonly #sink: EventSink
  readonly #reader: EventReader
  readonly #leave: () => void
  readonly #log: Logger
  readonly #clock: Pick<Clock, 'after'>
  #failures = 0
  #last: number
  #mode: Mode = 'live'
  #missed = false

  constructor({ actor, after, end, sink, reader, leave, log, clock }: FollowerParts) {
    this.#clock = clock
    this.#actor = actor
    this.#last = after
    this.#end = end
    this.#sink = sink
    this.#reader = reader
    this.#leave = leave
    this.#log = log
  }

  /** Sequence of the last event delivered to the sink. */
  get last(): number {
    return this.#last
  }

  live(events: readonly LogEvent[]): void {
    if (this.over) return
    this.#missed = this.#mode === 'reading'
    if (this.#mode !== 'live') return
    const [first] = events
    if (first !== undefined && (first.follows ?? first.sequence - 1) > this.#last) {
      this.catchUp()
      return
    }
    this.#push(events)
    this.#endIfIdle()
  }

  refresh(): void {
    if (!this.over && this.#mode === 'live') this.catchUp()
  }

  recheck(): void {
    this.#endIfIdle()
  }

  resume(): void {
    if (this.over || this.#mode !== 'blocked') return
    this.catchUp()
  }

  finish(reason: StreamEnding): void {
    if (this.over) return
    this.#leave()
    this.#sink.end(reason)
  }

  /** Reads the log after the last event, until its end or until the sink is full. */
  catchUp(): void {
    this.#mode = 'reading'
    while (!this.over && this.#mode === 'reading') {
      const events = this.#reader.read(this.#actor, this.#last)
      if (!Array.isArray(events)) {
        void this.#readLater(events)
        return
      }
      this.#took(events)
    }
  }

  async #readLater(events: readonly LogEvent[] | Promise<readonly LogEvent[]>): Promise<void> {
    try {
      this.#took(await events)
      this.#failures = 0
      if (!this.over && this.#mode === 'reading') this.catchUp()
    } catch (error) {
      this.#log.warn({ actorId: this.#actor, failures: this.#failures, err: error }, 'log of a stream not read')
      if (!(error instanceof StoreUnavailable)) this.finish('lost')
      else this.#clock.after(backoffMs(this.#failures++, 100, 2000), () => this.over || this.catchUp())
    }
  }

  #took(events: readonly LogEvent[]): void {
    if (this.over) return
    if (events.length > 0) {
      // one by one: events that a slow consumer does not accept are not buffered, but read again later
      for (const event of events) {
        this.#push([event])
        if (this.over || this.#mode !== 'reading') return
      }
      return
    }
    if (this.#missed) {
      // a commit was published while the store was read: its events are in the log now
      this.#missed = false
      return
    }
    this.#mode = 'live'
    this.#endIfIdle()
  }

  #push(events: readonly LogEvent[]): void {
    const fresh =
      events[0] && events[0].sequence <= this.#last ? events.filter((each) => each.sequence > this.#last) : events
    if (fresh.length === 0) return
    const stop = this.#end.after === undefined ? -1 : fresh.findIndex(this.#end.after)
    const wanted = stop < 0 ? fresh : fresh.slice(0, stop + 1)
    this.#last = wanted[wanted.length - 1]?.sequence ?? this.#last
    if (!this.#sink.push(wanted)) this.#mode = 'blocked'
    if (stop >= 0) this.finish('done')
  }

  #endIfIdle(): void {
    if (this.over || this.#mode !== 'live' || this.#end.at === 'never') return
    const standing = this.#reader.standing(this.#actor)
    if (standing === 'unknown') return
    if (standing === undefined || (!standing.busy && standing.lastSequence <= this.#last)) this.finish('done')
  }
}
