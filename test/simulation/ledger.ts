import { inPieces } from '#storage/pieces.ts'
import type { Commit, LogEvent, StoredRecord } from '#storage/ports.ts'
import { type LogRules, noRules } from './log-rules.ts'
import { RunRules } from './runs/run-rules.ts'
import { TurnRules } from './sessions/turn-rules.ts'
import { isBad } from './world/bad-actors.ts'

/** The known commits of an actor. */
export interface KnownActor {
  readonly commits: Commit[]
  /** The events of its log in order, one by one. */
  readonly events: LogEvent[]
  /** Every event that is in its log, or was shown to a reader before its commit, by sequence. */
  readonly named: Map<number, LogEvent>
  /** Whether a new owner left sequences out since the last event. */
  skips: boolean
  /** Events that any reader was shown after their commit, with the time, in order of both. */
  readonly shown: { readonly sequence: number; readonly at: number }[]
  readonly causes: Set<string>
  readonly log: LogRules
}

/** The owner of an actor. */
export interface KnownOwner {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
}

/** The answer of the store to a write arrives within this time, in ms, or is known to be lost. */
const acknowledgedMs = 400

/** Marks the copies of a cause that a planted defect lets through; the ledger compares causes without it. */
export const copyMark = '\u0000'
const causeOf = ({ cause }: Commit): string => cause.split(copyMark)[0] ?? ''

/**
 * What the store really contains, recorded at the moment of each write. Every guarantee about the log is checked here,
 * and whatever is visible outside (an answer, a frame, a call of a tool) is compared with it.
 */
export class Ledger {
  readonly actors = new Map<string, KnownActor>()
  /** Actors whose log was removed. */
  readonly forgotten = new Set<string>()
  /** The violations, in order. */
  readonly violations: string[] = []
  /** Ids of effects that a commit requested, with that commit. */
  readonly effects = new Map<string, Commit>()
  /** At-most-once effects whose mark is written. */
  readonly started = new Set<string>()
  /** Notified of each commit once its own rules were checked, and of each record. */
  readonly watching: ((commit: Commit) => void)[] = []
  readonly watchingRecords: ((kind: string, record: StoredRecord) => void)[] = []
  readonly #owners = new Map<string, KnownOwner>()
  readonly #senders = new Map<string, number>()
  readonly #note: (text: string) => void
  readonly #now: () => number
  /** The number of text chunks in the model's answer to a call. */
  readonly chunksOf: (effect: string) => number

  constructor(note: (text: string) => void, chunksOf: (effect: string) => number, now: () => number) {
    this.#now = now
    this.#note = note
    this.chunksOf = chunksOf
  }

  broken(text: string): void {
    this.violations.push(text)
    this.#note(`BROKEN ${text}`)
  }

  expect(holds: boolean, text: () => string): void {
    if (!holds) this.broken(text())
  }

  /** Records a commit that was written. */
  wrote(commit: Commit): void {
    if (this.forgotten.has(commit.actor) || isBad(commit.actor)) return
    const known = this.#actor(commit)
    const place = `${commit.actor}:${commit.seq}`
    this.expect(commit.seq === known.commits.length + 1, () => `${place} follows ${known.commits.length}`)
    const cause = causeOf(commit)
    this.expect(!known.causes.has(cause), () => `${place} processes ${cause} again`)
    known.causes.add(cause)
    const own = this.#own(known, commit)
    known.commits.push(own)
    if (commit.event.type === '$started') this.started.add(cause.replace(/#started$/, ''))
    for (const effect of commit.effects) this.effects.set(effect.id, commit)
    // a repeated `wake` is harmless: one that changed nothing leaves no trace, and may arrive again
    if (commit.event.type !== 'wake') this.#inOrder(commit.actor, cause)
    if (Number(commit.snapshot?.skip ?? 0) > 0) known.skips = true
    for (const event of inPieces(own.events)) this.#take(known, event, place)
    for (const watch of this.watching) watch(commit)
  }

  /** Records a record that was written. */
  kept(kind: string, record: StoredRecord): void {
    for (const watch of this.watchingRecords) watch(kind, record)
  }

  /** Records that the log of an actor was removed. */
  forgot(actor: string): void {
    this.forgotten.add(actor)
    this.actors.delete(actor)
  }

  has(actor: string, cause: string): boolean {
    return this.forgotten.has(actor) || this.actors.get(actor)?.causes.has(cause) === true
  }

  /** The owner of an actor, even if its log was removed. */
  ownerOf(actor: string): KnownOwner | undefined {
    return this.#owners.get(actor)
  }

  /** Whether the session is deleted: by its newest commit, or with all its log. */
  isDeleted(actor: string): boolean {
    if (this.forgotten.has(actor)) return true
    return this.actors.get(actor)?.commits.some(({ snapshot }) => snapshot?.value === 'deleted') === true
  }

  /**
   * Checks that a frame equals the event in the log. Text may be shown before its commit, and is then in no log after a
   * crash: its sequence names no other event.
   */
  shown(actor: string, event: LogEvent, to: string): void {
    if (this.forgotten.has(actor)) return
    const known = this.actors.get(actor)
    const there = known?.named.get(event.sequence)
    if (there === undefined) {
      const mayBe = known !== undefined && event.event_type === 'output_text.delta'
      this.expect(mayBe, () => `${to} is sent ${actor} #${event.sequence}, which is not in the log`)
      known?.named.set(event.sequence, event)
      return
    }
    // text may be shown before its commit
    if (
      known !== undefined &&
      event.event_type !== 'output_text.delta' &&
      event.sequence > (known.shown.at(-1)?.sequence ?? 0)
    )
      known.shown.push({ sequence: event.sequence, at: this.#now() })
    this.expect(isSame(there, event), () => `${to} is sent ${actor} #${event.sequence} otherwise than the log has it`)
  }

  /**
   * Sequence up to which a page has the log that is requested now, whichever process answers: what any reader was shown,
   * unless that was so recently that the process which wrote it may not have the answer of the store yet.
   */
  newestShown(actor: string): number {
    const before = this.#now() - acknowledgedMs
    return this.actors.get(actor)?.shown.findLast(({ at }) => at < before)?.sequence ?? 0
  }

  /** Whether a reader that has `last` may get `sequence` next: it has missed nothing that is in the log, or will be. */
  follows(actor: string, last: number, sequence: number): boolean {
    const known = this.actors.get(actor)
    if (known === undefined || sequence === last + 1) return true
    return sequence > last && !known.named.has(sequence - 1) && !known.events.some(between(last, sequence))
  }

  /** Number of events of the log that are not among these. */
  unseen(actor: string, seen: readonly LogEvent[]): number {
    const sequences = new Set(seen.map(({ sequence }) => sequence))
    return this.actors.get(actor)?.events.filter(({ sequence }) => !sequences.has(sequence)).length ?? 0
  }

  /** The commit without the events of those that it replaces, which have to be the same. */
  #own(known: KnownActor, commit: Commit): Commit {
    if (commit.replaces === undefined) return commit
    const timed = ({ events, at }: Commit): readonly LogEvent[] => inPieces(events).map((event) => ({ at, ...event }))
    const carried = known.commits.slice(-commit.replaces).flatMap(timed)
    const events = timed(commit)
    const isCarried = carried.every((event, index) => isSameAt(events[index], event))
    this.expect(isCarried, () => `${commit.actor}:${commit.seq} has other events than the commits that it replaces`)
    return { ...commit, events: events.slice(carried.length).map(({ at: _, ...event }) => event) }
  }

  #take(known: KnownActor, event: LogEvent, place: string): void {
    const next = lastOf(known) + 1
    const isNext = event.sequence === next || (known.skips && event.sequence > next && !known.named.has(event.sequence))
    this.expect(isNext, () => `${place} has event ${event.sequence} in place of ${next}`)
    const shown = known.named.get(event.sequence)
    this.expect(
      shown === undefined || isSame(shown, event),
      () => `${place} has event ${event.sequence} otherwise than it was shown`,
    )
    known.skips = false
    known.named.set(event.sequence, event)
    known.events.push(event)
    const trouble = known.log.take(event)
    if (trouble !== null) this.broken(`${place} ${event.event_type}: ${trouble}`)
  }

  /** Messages of one sender to one receiver are processed in the order in which they were sent. */
  #inOrder(receiver: string, cause: string): void {
    const sent = /^(.+):(\d+):m(\d+)$/.exec(cause)
    if (sent === null) return
    const [, sender, seq, index] = sent
    const number = Number(seq) * 1000 + Number(index)
    const path = `${sender}>${receiver}`
    const last = this.#senders.get(path) ?? 0
    this.expect(number > last, () => `${receiver} processes ${cause} after a later message`)
    this.#senders.set(path, number)
  }

  #actor(first: Commit): KnownActor {
    const id = first.actor
    const known = this.actors.get(id)
    if (known !== undefined) return known
    this.#owners.set(id, { project: first.project, tenant: first.tenant, user: userOf(first) })
    const log = this.#rulesOf(id)
    const fresh = { commits: [], events: [], named: new Map(), skips: false, shown: [], causes: new Set<string>(), log }
    this.actors.set(id, fresh)
    return fresh
  }

  #rulesOf(id: string): LogRules {
    const commitOf = (effect: string): Commit | undefined => this.effects.get(effect)
    if (id.startsWith('ses_')) return new TurnRules(id, this.chunksOf, commitOf)
    return id.startsWith('run_') ? new RunRules(this.chunksOf, commitOf) : noRules
  }
}

const userOf = ({ snapshot }: Commit): string | null => (typeof snapshot?.user === 'string' ? snapshot.user : null)

const lastOf = ({ events }: KnownActor): number => events.at(-1)?.sequence ?? 0

const between =
  (last: number, next: number) =>
  ({ sequence }: LogEvent): boolean =>
    sequence > last && sequence < next

const isSameAt = (a: LogEvent | undefined, b: LogEvent): boolean => a !== undefined && a.at === b.at && isSame(a, b)

const isSame = (a: LogEvent, b: LogEvent): boolean => a.event_type === b.event_type && equal(a.payload, b.payload)

const equal = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
