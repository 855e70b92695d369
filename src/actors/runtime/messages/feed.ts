import type { Logger } from 'pino'
import type { EventSink, EventStream, StreamControl } from '#actors/call/call.ts'
import { forEachInShares, nextShare } from '#outgoing/shares/in-shares.ts'
import { type LogEvent, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock } from '../clock.ts'

/** Commits of an actor that wait until all of its followers have the one before. */
const mostWaiting = 64

/** Where a stream reads what it missed. */
export interface EventReader {
  /** Events after `after`, ascending, from memory at once or from the store; at most some hundreds. */
  read(actor: string, after: number): readonly LogEvent[] | Promise<readonly LogEvent[]>
  /** Undefined when the actor is not live; `unknown` when that is not known now: `refresh` or `look` when it can. */
  standing(actor: string): FeedState | 'unknown' | undefined
  /** An actor's first stream began. */
  followed?(actor: string): void
}

/** Whether a turn or run of an actor goes on, and how far its log is. */
export interface FeedState {
  readonly busy: boolean
  readonly lastSequence: number
}

/** When a stream is over. `idle`: caught up with an actor that does nothing more by itself. */
export interface StreamEnd {
  readonly at: 'idle' | 'never'
  /** Ends after this event, too. */
  readonly after?: (event: LogEvent) => boolean
}

/**
 * Live streams of actors' logs. A follower reads the log after its last event, then gets new events as they are
 * committed; on a hole, and after its reader was slow, it reads the log again. So there is no gap and no double, and a
 * reader that stops costs nothing but its place.
 */
export class Feed {
  readonly #reader: EventReader
  readonly #log: Logger
  readonly #clock: Pick<Clock, 'after'>
  readonly #followers = new Map<string, Set<Follower>>()
  /** Commits behind one that the last of its actor's followers do not have yet. */
  readonly #waiting = new Map<string, (readonly LogEvent[])[]>()

  /** @param clock when the store is away, a log is tried again after some time: readers keep their streams. */
  constructor(reader: EventReader, log: Logger, clock: Pick<Clock, 'after'>) {
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
   * Gives a commit to the actor's followers. Call it in order, after the commit is durable. To the last of many it comes in a
   * later turn of the loop, and so do the commits after it.
   */
  publish(actor: string, events: readonly LogEvent[]): void {
    const followers = this.#followers.get(actor)
    if (followers === undefined) return
    const waiting = this.#waiting.get(actor)
    if (waiting === undefined) this.#deliver(actor, followers, events)
    // beyond this many a follower sees a hole, and reads the log
    else if (waiting.length < mostWaiting) waiting.push(events)
  }

  /** The actor was loaded: commits may have landed of which no follower heard. */
  refresh(actor: string): void {
    for (const follower of this.#followers.get(actor) ?? []) follower.refresh()
  }

  /** An actor's standing has changed without an event, or has become known. */
  look(actor: string): void {
    for (const follower of [...(this.#followers.get(actor) ?? [])]) follower.look()
  }

  /** Whether a stream follows an actor. */
  follows(actor: string): boolean {
    return this.#followers.has(actor)
  }

  /** Sequence of the newest event that a stream was shown of an actor; 0 for none. */
  shown(actor: string): number {
    let newest = 0
    for (const { last } of this.#followers.get(actor) ?? []) newest = Math.max(newest, last)
    return newest
  }

  /** The actors that are followed. */
  followed(): readonly string[] {
    return [...this.#followers.keys()]
  }

  /** Ends every stream of an actor that is gone, or of all. */
  end(actor?: string): void {
    for (const [id, followers] of this.#followers) {
      if (actor === undefined || id === actor) for (const follower of [...followers]) follower.finish('lost')
    }
  }

  /** Events after sequence `after`. Nothing is read until the stream is started. */
  follow(actor: string, after: number, end: StreamEnd): EventStream {
    return {
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
        if (set.size === 1) this.#reader.followed?.(actor)
        follower.catchUp()
        return { resume: () => follower.resume(), stop: () => this.#leave(actor, follower) }
      },
    }
  }

  #deliver(actor: string, followers: Iterable<Follower>, events: readonly LogEvent[]): void {
    const later = forEachInShares(followers, (follower) => follower.live(events))
    if (later !== null) void this.#deliverLater(actor, later)
  }

  async #deliverLater(actor: string, first: Promise<void>): Promise<void> {
    const waiting: (readonly LogEvent[])[] = []
    this.#waiting.set(actor, waiting)
    try {
      await first
      // each in a share of its own: many that are short hold the loop no longer than one that is long
      for (let events = waiting.shift(); events !== undefined; events = waiting.shift()) {
        await nextShare()
        await forEachInShares(this.#followers.get(actor) ?? [], (follower) => follower.live(events))
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

/** One stream: the actor and place that it follows from, and the sink of its events. */
export interface FollowerParts {
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

  /** Sequence of the last event that the reader has. */
  get last(): number {
    return this.#last
  }

  live(events: readonly LogEvent[]): void {
    if (this.over) return
    this.#missed = this.#mode === 'reading'
    if (this.#mode !== 'live') return
    const [first] = events
    if (first !== undefined && first.sequence > this.#last + 1) {
      this.catchUp()
      return
    }
    this.#push(events)
    this.#endIfIdle()
  }

  refresh(): void {
    if (!this.over && this.#mode === 'live') this.catchUp()
  }

  look(): void {
    this.#endIfIdle()
  }

  resume(): void {
    if (this.over || this.#mode !== 'blocked') return
    this.catchUp()
  }

  finish(reason: 'done' | 'lost'): void {
    if (this.over) return
    this.#leave()
    this.#sink.end(reason)
  }

  /** Reads the log from the last event on, until there is no more or the reader is slow. */
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
      // one by one: what a slow reader does not take is not written for it, but read again later
      for (const event of events) {
        this.#push([event])
        if (this.over || this.#mode !== 'reading') return
      }
      return
    }
    if (this.#missed) {
      // a commit came while the store was read: what it said is in the log now
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
    this.#last = wanted.at(-1)?.sequence ?? this.#last
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
