import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit, JsonObject, LogEvent, StoredEvent } from '#storage/ports.ts'
import type { TraceContext } from '#telemetry/trace-context.ts'
import { LogTail } from './log/log-tail.ts'
import { type ActorState, type Owner, storedState } from './step/actor-state.ts'

/** One thing for an actor to do. */
export interface Delivery {
  readonly event: StoredEvent
  /** Unique per actor: what was processed before is answered from its commit. */
  readonly cause: string
  /** The event as kept in the commit, when less than all of it is worth keeping. */
  readonly stored?: StoredEvent
  /** The event is the result of this effect; dropped when that is not in flight any more. */
  readonly done?: string
  /** The event is a part of this effect's stream; dropped likewise. */
  readonly part?: string
  /** Only marks this effect as begun. */
  readonly starts?: string
}

/** An actor to make. */
export interface Creation {
  readonly kind: MachineDefinition
  readonly id: string
  readonly owner: Owner
  /** Input of its machine. */
  readonly input: JsonObject
  /** Unique per actor: repeated, the actor of before stays as it is. */
  readonly cause: string
  /** It may have been made before and removed since: then it is not made anew. */
  readonly again?: boolean
}

/** What a delivery came to. `commit` null: it changed nothing (ignored, or a late result). */
export interface Delivered {
  readonly commit: Commit | null
  /** The cause was processed before; `commit` is what it made then. */
  readonly duplicate: boolean
}

/** A delivery that waits for its step. */
export interface Waiting {
  readonly delivery: Delivery
  /** How often it met an actor that another process had moved on. */
  readonly reloads: number
  /** The span of the sender; null where there is none. */
  readonly span: TraceContext | null
  readonly resolve: (result: Delivered) => void
  readonly reject: (error: unknown) => void
}

/** An actor as it is loaded. `at`: when it was used last, in ms. */
export interface ResidentParts {
  readonly id: string
  readonly definition: MachineDefinition
  readonly owner: Owner
  readonly place: { readonly shard: number; readonly epoch: number }
  readonly state: ActorState
  readonly at: number
}

/** A live actor: its state in memory, its mailbox, and what its commits still have to have done. */
export class Resident {
  readonly id: string
  readonly definition: MachineDefinition
  readonly owner: Owner
  readonly shard: number
  /** Under which this process runs it; its commits carry that. */
  readonly epoch: number
  state: ActorState
  /** Why its newest commit cannot be restored; undefined when it could. */
  unrestorable: string | undefined
  /** Why a part of what its commits say could not be done: they stay open until it is. Undefined when all could. */
  unfinished: string | undefined
  /** Dropped from memory, or never kept there: its state may be old. */
  dead = false
  working = false
  /** Time of the newest commit, ms since the epoch. */
  touchedAt: number
  /** Last use, reading included, ms since the epoch. */
  usedAt: number
  /** The commits up to this one are closed. */
  closedSeq = 0
  /** Commits two steps behind whose messages are still on their way. */
  readonly retiring: number[] = []
  /** Deliveries of its messages, in order. */
  outbox: Promise<void> = Promise.resolve()
  /** Messages on their way, and commits whose further rows are not written. */
  undelivered = 0
  /** Writing of the rows that its commits leave beside its own (`Ledger`). */
  recorded: Promise<unknown> = Promise.resolve()
  readonly mailbox: Waiting[] = []
  readonly #tail = new LogTail()

  /** @param place where it runs; @param at time of its newest commit, ms since the epoch. */
  constructor({ id, definition, owner, place, state, at }: ResidentParts) {
    this.id = id
    this.definition = definition
    this.owner = owner
    this.shard = place.shard
    this.epoch = place.epoch
    this.state = state
    this.touchedAt = at
    this.usedAt = at
  }

  /** Why the actor takes nothing until an operator looks; undefined when it runs. */
  get parked(): string | undefined {
    return this.unrestorable ?? this.state.parked?.reason
  }

  get busy(): boolean {
    return this.definition.busy(storedState(this.state.snapshot))
  }

  /** Resolves when all that its commits so far say to others is taken: messages, and further rows. */
  get carriedOut(): Promise<void> {
    return Promise.all([this.outbox, this.recorded]).then(() => {})
  }

  /** Keeps the newest events. */
  remember(events: readonly LogEvent[]): void {
    this.#tail.remember(events)
  }

  /** Every event after `after`, when memory has them all; undefined when the store has to be read. */
  eventsAfter(after: number): readonly LogEvent[] | undefined {
    return this.#tail.after(after, this.state.lastSequence)
  }

  /** Gives memory back that can be read again. */
  forgetTail(): void {
    this.#tail.forget()
  }
}
