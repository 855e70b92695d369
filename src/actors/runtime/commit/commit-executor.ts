import type { Logger } from 'pino'
import type { Commit, LogEvent, RecordKind } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { Activated } from '../activation.ts'
import type { EffectRunner } from '../effects/effect-runner.ts'
import { type EndedStream, endedStreamsOf } from '../log/ended-stream.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Feed } from '../messages/feed.ts'
import type { Outbox } from '../messages/outbox.ts'
import type { Resident } from '../resident.ts'
import { rowRecord } from '../rows/actor-row.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { stateAlone } from '../step/actor-state.ts'
import type { Draft } from '../step/step.ts'
import { type Decision, decisionOf } from '../step/system-steps.ts'
import { reasonOf, type StuckBook } from '../stuck/stuck.ts'
import type { Settler } from './settler.ts'

/** What carrying out commits needs of the host. */
export interface CommitExecutorParts {
  readonly rowWriter: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly feed: Feed
  readonly outbox: Outbox
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  readonly ledger?: Ledger
  readonly telemetry?: Telemetry
  readonly log: Logger
  readonly stuck: StuckBook
  /** An effect has ended that journaled more than one part. */
  readonly streamEnded?: (ended: EndedStream) => void
  /** An operator has decided about something of the actor. */
  readonly decided: (resident: Resident, decision: Decision) => void
  /** An actor here has made a durable commit: other processes may follow its log. */
  readonly committed: (resident: Resident, events: readonly LogEvent[]) => void
}

/** Does what durable commits say: moves the actor on, starts and ends effects, sends messages, writes rows, publishes events. */
export class CommitExecutor {
  readonly #parts: CommitExecutorParts
  #committed = 0

  constructor(parts: CommitExecutorParts) {
    this.#parts = parts
  }

  /** Commits made durable since the start. */
  get committed(): number {
    return this.#committed
  }

  /** The commit is durable: the state moves on, and what the commit says is done. */
  carryOut(resident: Resident, draft: Draft, commit: Commit): void {
    const { effects, outbox, settler } = this.#parts
    this.#committed++
    this.#noteEnded(resident, draft)
    resident.state = stateAlone(draft)
    resident.touchedAt = commit.at
    resident.usedAt = commit.at
    resident.remember(draft.events)
    // one part that throws leaves none of the others undone
    this.#part(resident, () => effects.abort(draft.aborted))
    this.#part(resident, () => this.#start(resident, draft))
    this.#part(resident, () => this.projectRow(resident))
    this.#part(resident, () => this.#record(resident, commit))
    this.#part(resident, () => void outbox.post(resident, draft.messages))
    this.#part(resident, () => this.#publish(resident, draft.events))
    this.#part(resident, () => this.#noteStuck(resident, commit))
    this.#part(resident, () => this.#parts.telemetry?.committed(commit))
    if (commit.seq > 2) resident.retiring.push(commit.seq - 2)
    settler.retire(resident)
  }

  /** The actor was loaded: whatever its newest commits left undone is done. */
  takeUp({ resident, open, unsent, unclosed }: Activated): void {
    const { effects, feed, outbox } = this.#parts
    effects.keepOnly(resident.id, resident.state.inFlight)
    if (resident.parked !== undefined) this.#part(resident, () => this.#noteParked(resident))
    if (resident.unrestorable !== undefined) return
    for (const commit of unclosed) this.#part(resident, () => this.#record(resident, commit))
    this.#part(resident, () => void outbox.post(resident, unsent, true))
    if (open) this.#part(resident, () => this.projectRow(resident))
    this.resume(resident)
    this.#part(resident, () => feed.refresh(resident.id))
  }

  /** Starts what is in flight and does not run here. */
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

  #noteEnded({ id, state }: Resident, { seq, inFlight }: Draft): void {
    const { streamEnded } = this.#parts
    if (streamEnded === undefined || state.inFlight === inFlight) return
    for (const ended of endedStreamsOf({ actor: id, seq }, state.inFlight, inFlight)) streamEnded(ended)
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

  /** Writes the rows that a commit leaves beside the actor's own; it is not closed before they are written. */
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
    // each commit's result would hold that of the one before: an actor that lives long has many
    resident.recorded = isOnly ? done : Promise.all([resident.recorded, done]).then(nothing)
  }

  /** What throws is done again later (standing-work.ts): nothing of it is closed before. */
  #part(resident: Resident, work: () => void): void {
    try {
      work()
    } catch (error) {
      resident.unfinished = reasonOf(error)
      this.#parts.log.error({ actorId: resident.id, err: error }, 'a part of a durable commit not carried out')
    }
  }
}

const nothing = (): void => {}
