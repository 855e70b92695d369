import type { MachineDefinition } from '#machines/definition.ts'
import { isBusy } from '#machines/status.ts'
import type { Commit, JsonObject, LogEvent, StoredEvent } from '#storage/ports.ts'
import { SnapshotBlobs } from './blobs/snapshot-blobs.ts'
import type { TraceContext } from './host-telemetry.ts'
import { LogTail } from './log/log-tail.ts'
import type { Parts } from './log/parts.ts'
import type { ActorState, Owner } from './step/actor-state.ts'

/** An event for an actor. */
export interface Delivery {
  readonly event: StoredEvent
  /** Idempotency key, unique per actor: a repeated cause is answered from the commit that it led to. */
  readonly cause: string
  /** The form of the event to keep in the commit; the whole event when absent. */
  readonly stored?: StoredEvent
  /** Id of the effect whose result this is; the event is dropped when that effect is no longer in flight. */
  readonly done?: string
  /** Id of the effect of whose stream this is a part; the event is dropped when that effect is no longer in flight. */
  readonly part?: string
  /** Id of an effect to mark as started; the machine does not get the event. */
  readonly starts?: string
  /** The reminder that is due; the event is dropped when it was cancelled or set anew meanwhile. */
  readonly reminder?: { readonly name: string; readonly n: number }
  /** Id of an effect that begins again; the event is dropped when that effect is no longer in flight. */
  readonly restarts?: string
  /** Id of an effect whose text is to be made durable, as far as it has been shown (`ShownText`). */
  readonly flush?: string
  /** The event gets `delta` and `cuts`: the text of the effect that was shown and is not durable. */
  readonly takesText?: boolean
}

/** Id of the effect of the actor from which a delivery comes; undefined when it comes from elsewhere. */
export const effectOf = ({ done, part, starts, restarts, flush }: Delivery): string | undefined =>
  done ?? part ?? starts ?? restarts ?? flush

/** An actor to create. */
export interface Creation {
  readonly kind: MachineDefinition
  readonly id: string
  readonly owner: Owner
  /** Input of its machine. */
  readonly input: JsonObject
  /** Idempotency key, unique per actor: a repeated creation leaves the existing actor as it is. */
  readonly cause: string
  /** Set on a retry: the actor may have been created before and erased since, and is then not created again. */
  readonly again?: boolean
}

/** Result of a delivery. `commit` is null when the event changed nothing: it was ignored, or was a late result. */
export interface Delivered {
  readonly commit: Commit | null
  /** The cause was processed before; `commit` is the commit that it led to then. */
  readonly duplicate: boolean
}

/** A delivery in an actor's mailbox. */
export interface Waiting {
  readonly delivery: Delivery
  /** How often the actor had to be loaded again because another process had committed for it. */
  readonly reloads: number
  /** Trace span of the sender; null when there is none. */
  readonly span: TraceContext | null
  readonly resolve: (result: Delivered) => void
  readonly reject: (error: unknown) => void
}

/** Initial values of a `Resident`. `at` is the time of the newest commit, in ms since the epoch. */
export interface ResidentParts {
  readonly id: string
  readonly definition: MachineDefinition
  readonly owner: Owner
  readonly place: { readonly shard: number; readonly epoch: number }
  readonly state: ActorState
  readonly at: number
  /** The blobs of its snapshots; none when absent. */
  readonly blobs?: SnapshotBlobs
}

/** An actor in memory: its state, its mailbox, and the work of its commits that is still to be done. */
export class Resident {
  readonly id: string
  readonly definition: MachineDefinition
  readonly owner: Owner
  readonly shard: number
  /** Epoch under which this process runs the actor; recorded in each commit. */
  readonly epoch: number
  readonly blobs: SnapshotBlobs
  state: ActorState
  /** Why its newest commit cannot be restored; undefined when it could. */
  unrestorable: string | undefined
  /** Why part of the work of its commits failed; they stay open until it is done. Undefined when nothing failed. */
  unfinished: string | undefined
  /** Evicted, or never managed by this process: its state may be stale. */
  dead = false
  working = false
  /** The outcome of its last write is unknown: the store may have a newer state. */
  unsure = false
  /** A step is in progress that may take sequences; text of a running effect waits for its end. */
  stepping = false
  /** Time of the newest commit, ms since the epoch. */
  touchedAt: number
  /** Last use, including reads, ms since the epoch. */
  usedAt: number
  /** `seq` of the newest closed commit. */
  closedSeq = 0
  /** `seq` of commits at least two steps old that are retired once the actor's messages are delivered. */
  readonly retiring: number[] = []
  /** Resolves when the messages sent so far are delivered. */
  outbox: Promise<void> = Promise.resolve()
  /** Number of pending message deliveries, held poison messages, and commits whose ledger rows are unwritten. */
  undelivered = 0
  /** Resolves when the ledger rows of its commits so far are written (`Ledger`). */
  recorded: Promise<unknown> = Promise.resolve()
  readonly mailbox: Waiting[] = []
  /** Newest commits that only have parts of a running effect; undefined when the newest commit is another. */
  parts: Parts | undefined
  readonly #tail = new LogTail()
  #seen: ActorState['snapshot'] | undefined
  #busy = false

  /** @param place shard and epoch in which it runs; @param at time of its newest commit, ms since the epoch. */
  constructor({ id, definition, owner, place, state, at, blobs = new SnapshotBlobs() }: ResidentParts) {
    this.id = id
    this.definition = definition
    this.owner = owner
    this.shard = place.shard
    this.epoch = place.epoch
    this.state = state
    this.blobs = blobs
    this.touchedAt = at
    this.usedAt = at
  }

  /** Why the actor is parked, that is, accepts no events until an operator decides; undefined when it runs. */
  get parked(): string | undefined {
    return this.unrestorable ?? this.state.parked?.reason
  }

  /** Whether a turn or run is in progress. Every piece of a stream reads it, so it is found once for each state. */
  get busy(): boolean {
    const { snapshot } = this.state
    if (this.#seen !== snapshot) {
      this.#seen = snapshot
      this.#busy = isBusy(this.definition, snapshot)
    }
    return this.#busy
  }

  /** Resolves when all messages of its commits so far are delivered and all their ledger rows written. */
  get carriedOut(): Promise<void> {
    return Promise.all([this.outbox, this.recorded]).then(() => {})
  }

  /** Adds events to the in-memory tail of the log. */
  remember(events: readonly LogEvent[]): void {
    this.#tail.remember(events)
  }

  /** Returns every event after `after` if memory has them all; undefined when the store has to be read. */
  eventsAfter(after: number): readonly LogEvent[] | undefined {
    return this.#tail.after(after, this.state.lastSequence)
  }

  /** Frees the in-memory tail of the log, which can be read again. */
  forgetTail(): void {
    this.#tail.forget()
  }
}
