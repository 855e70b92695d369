import { inPieces } from '#storage/pieces.ts'
import type { Commit, LogEvent, RecordKind, Storage } from '#storage/ports.ts'
import type { Activated } from '../activation.ts'
import type { EffectRunner } from '../effects/effect-runner.ts'
import type { HostTelemetry } from '../host-telemetry.ts'
import { type EndedStream, endedStreamsOf } from '../log/ended-stream.ts'
import type { Ledger, TakenOver } from '../log/ledger.ts'
import { maxInTail } from '../log/log-tail.ts'
import { areReplacedSoon } from '../log/parts.ts'
import type { Logger } from '../logger.ts'
import type { Feed } from '../messages/feed.ts'
import type { Outbox } from '../messages/outbox.ts'
import type { Resident } from '../resident.ts'
import { rowRecord } from '../rows/actor-row.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { stateAlone } from '../step/actor-state.ts'
import type { Draft } from '../step/step.ts'
import { type Decision, decisionOf } from '../step/system-steps.ts'
import type { ShownText } from '../stream/shown-text.ts'
import { reasonOf, type StuckWorkRegistry } from '../stuck/stuck.ts'
import type { Settler } from './settler.ts'

/** Dependencies of `CommitExecutor`. */
export interface CommitExecutorParts {
  readonly rowWriter: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly feed: Feed
  readonly outbox: Outbox
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  readonly ledger?: Ledger
  readonly takenOver?: TakenOver
  readonly telemetry?: HostTelemetry
  readonly log: Logger
  readonly stuck: StuckWorkRegistry
  readonly storage: Pick<Storage, 'replacesAtOnce'>
  /** Called when an effect that journaled more than one part has ended, unless none of its parts is left. */
  readonly streamEnded?: (ended: EndedStream) => void
  /** Called when an operator has decided on stuck work of the actor. */
  readonly decided: (resident: Resident, decision: Decision) => void
  /**
   * Called when an actor of this process has made a durable commit with log events, which other processes may follow.
   */
  readonly committed: (resident: Resident, events: readonly LogEvent[]) => void
  /** Text of running effects that followers have been shown before its commit. */
  readonly shown: Pick<ShownText, 'newest' | 'settled'>
}

/**
 * Carries out durable commits: updates state, starts and aborts effects, sends messages, writes rows, publishes events.
 */
export class CommitExecutor {
  readonly #parts: CommitExecutorParts
  #committed = 0

  constructor(parts: CommitExecutorParts) {
    this.#parts = parts
  }

  /** Number of commits made durable since the start. */
  get committed(): number {
    return this.#committed
  }

  /** Carries out a commit that is durable: updates the state and does what the commit says. */
  carryOut(resident: Resident, draft: Draft, commit: Commit): void {
    const { effects, outbox, settler, shown } = this.#parts
    const newest = shown.newest(resident.id)
    // what followers have been shown is only of use for the tail in memory
    const pieces = inPieces(draft.events, Math.min(newest, draft.lastSequence - maxInTail))
    const events = resident.state.skip === 0 ? pieces : afterGap(resident.state, pieces)
    this.#committed++
    // before the new state is set: it reads the old one
    this.#part(resident, () => this.#noteEnded(resident, draft, commit))
    resident.state = stateAlone(draft)
    // a part adds text to the log, and changes nothing that lists show
    const isPart = resident.parts?.seq === commit.seq
    if (!isPart) resident.touchedAt = commit.at
    resident.usedAt = commit.at
    resident.remember(events)
    shown.settled(resident)
    // a part that throws does not stop the others
    this.#part(resident, () => this.#parts.telemetry?.committed(commit))
    this.#part(resident, () => effects.abort(draft.aborted))
    this.#part(resident, () => this.#start(resident, draft))
    if (!isPart) this.#part(resident, () => this.projectRow(resident))
    this.#part(resident, () => this.#record(resident, commit))
    this.#part(resident, () => void outbox.post(resident, draft.messages))
    this.#part(resident, () =>
      this.#publish(resident, newest === 0 ? events : events.filter(({ sequence }) => sequence > newest)),
    )
    this.#part(resident, () => this.#noteStuck(resident, commit))
    if (commit.seq > 2) resident.retiring.push(commit.seq - 2)
    if (!areReplacedSoon(resident.parts)) settler.retire(resident)
  }

  /** Resumes the work that the newest commits of a just loaded actor left unfinished. */
  takeUp({ resident, open, unsent, unclosed }: Activated): void {
    const { effects, feed, outbox } = this.#parts
    effects.keepOnly(resident.id, resident.state.inFlight)
    if (resident.parked !== undefined) this.#part(resident, () => this.#noteParked(resident))
    if (resident.unrestorable !== undefined) return
    this.#part(resident, () => this.#noteTakeover(unclosed[0]))
    for (const commit of unclosed) this.#part(resident, () => this.#record(resident, commit))
    this.#part(resident, () => void outbox.post(resident, unsent, true))
    if (open) this.#part(resident, () => this.projectRow(resident))
    this.resume(resident)
    this.#part(resident, () => feed.refresh(resident.id))
  }

  #noteTakeover(newest: Commit | undefined): void {
    const row = newest && this.#parts.takenOver?.(newest)
    if (row)
      this.#parts.rowWriter.put({ id: row.record.id, actor: row.record.id, kind: row.kind, record: () => row.record })
  }

  /** Starts the effects in flight that do not run here yet. */
  resume(resident: Resident): void {
    for (const [effectId, flight] of Object.entries(resident.state.inFlight)) {
      this.#part(resident, () => this.#parts.effects.start(resident, { id: effectId, flight, fresh: false }))
    }
  }

  /** Writes the actor's list row from its newest state. */
  projectRow(resident: Resident): void {
    const kind = this.#parts.rows[resident.definition.name]
    if (kind === undefined) return
    this.#parts.rowWriter.put({ id: resident.id, actor: resident.id, kind, record: () => rowRecord(resident) })
  }

  #noteEnded({ state }: Resident, { inFlight }: Draft, { actor, seq, replaces = 0 }: Commit): void {
    const { streamEnded, storage } = this.#parts
    if (streamEnded === undefined || state.inFlight === inFlight) return
    // a store without transactions may have left some
    const removed = storage.replacesAtOnce === true ? replaces : 0
    for (const ended of endedStreamsOf({ actor, seq, removed }, state.inFlight, inFlight)) streamEnded(ended)
  }

  #noteStuck(resident: Resident, commit: Commit): void {
    const decision = decisionOf(commit.event)
    if (decision !== undefined) {
      this.#parts.stuck.clear({ ...decision, actor: resident.id })
      this.#parts.decided(resident, decision)
    }
    if (resident.parked !== undefined) this.#noteParked(resident)
  }

  #noteParked(resident: Resident): void {
    const { id, owner, definition, state, unrestorable } = resident
    const whose = { actor: id, machine: definition.name, owner }
    const { parked } = state
    const subject = parked?.effect ?? id
    const kind = parked?.kind ?? 'parked_actor'
    const attempts = parked === undefined ? 1 : (state.inFlight[parked.effect]?.failures ?? 1)
    this.#parts.stuck.note({ ...whose, kind, subject, reason: unrestorable ?? parked?.reason ?? '', attempts })
  }

  #start(resident: Resident, draft: Draft): void {
    for (const effect of draft.effects) {
      const flight = draft.inFlight[effect.id]
      if (flight !== undefined) this.#parts.effects.start(resident, { id: effect.id, flight, fresh: true })
    }
  }

  #publish(resident: Resident, events: readonly LogEvent[]): void {
    if (events.length === 0) return
    this.#parts.feed.publish(resident.id, events)
    this.#parts.committed(resident, events)
  }

  /** Writes the ledger rows of a commit, which is not closed before they are written. */
  #record(resident: Resident, commit: Commit): void {
    const { ledger, rowWriter } = this.#parts
    const rows = ledger?.(commit, resident.owner) ?? []
    const [row, ...others] = rows
    if (row === undefined) return
    const isOnly = resident.undelivered++ === 0
    const write = ({ kind, record }: typeof row) => rowWriter.write(resident.id, kind, record)
    const written = others.length === 0 ? write(row) : Promise.all(rows.map(write))
    const done = written.then(() => {
      resident.undelivered--
    })
    // chaining every promise to the previous one would retain them all for a long-lived actor
    resident.recorded = isOnly ? done : Promise.all([resident.recorded, done]).then(nothing)
  }

  /**
   * Runs one part. If it throws, it is retried later (standing-work.ts), and the actor's commits stay open until then.
   */
  #part(resident: Resident, work: () => void): void {
    try {
      work()
    } catch (error) {
      resident.unfinished = reasonOf(error)
      this.#parts.log.error({ actorId: resident.id, err: error }, 'a part of a durable commit not carried out')
    }
  }
}

/**
 * Marks the first event after a gap, unless it is left out: a follower that has what came before, or what was shown in
 * the gap, gets the events without reading the log.
 */
const afterGap = ({ lastSequence, skip }: Resident['state'], events: readonly LogEvent[]): readonly LogEvent[] => {
  const [first, ...rest] = events
  return first?.sequence === lastSequence + skip + 1 ? [{ ...first, follows: lastSequence }, ...rest] : events
}

const nothing = (): void => {}
