import type { AnyStateMachine } from 'xstate'
import type { Json, JsonObject, LogEvent } from './json.ts'
import type { FlightsInProgress, Reminders } from './pending.ts'
import type { EffectPolicies, Emission } from './vocabulary.ts'

/** The state of an actor as plain data, as stored in a commit's `snapshot`. */
export interface StoredState {
  readonly value: StateValue
  readonly context: JsonObject
  /** Ids of the states that a history state enters, by its id; absent without any. */
  readonly history?: Readonly<Record<string, readonly string[]>>
  /** Output of the machine in its final state; absent without any. */
  readonly output?: Json | undefined
}

/** XState's state value as JSON: a name, or names nested. */
export type StateValue = string | { readonly [state: string]: StateValue | undefined }

/** Properties of an actor that its machine does not hold. Times in ms since the epoch. */
export interface ActorFacts {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly createdAt: number
  readonly updatedAt: number
  /** Status in the API; `''` for a machine without statuses. */
  readonly status: string
}

/** Returns the list row of an actor, which GET and list return. An actor that is gone has none (status.ts). */
export type RowOf = (state: StoredState, facts: ActorFacts) => JsonObject

/** Text that the host keeps in memory for a running actor, folded from its log, and fills in for `turnText`. */
interface TextFold {
  /** An event of this type resets the text, and is the first of those that it is folded from. */
  readonly startsAt: string
  /** An event of this type resets the text: it is generated again, after a crash. */
  readonly restartsAt: string
  /** Returns the text that an event adds; undefined for none. */
  readonly adds: (event: LogEvent) => string | undefined
  /** The machine's event for a part of the text, with `delta` and `cuts` (`LogEvent.cuts`). */
  readonly part: string
  /** Returns the event by which a piece of the text is shown before it is durable, in this context. */
  readonly piece: (context: JsonObject, text: string) => Emission
}

/**
 * Converts an actor of one version to the next; pure. If it returns `reminders` or `inFlight`, they replace those of
 * the actor: a running effect that is left out is aborted, and a new one is started. If it omits them, they stay
 * unchanged.
 */
export type Migration = (state: StoredState, standing: PendingWork) => Migrated

/** What an actor of an earlier version waits for. */
interface PendingWork {
  readonly reminders: Reminders
  readonly inFlight: FlightsInProgress
  /** Time in ms of the actor's newest commit. */
  readonly at: number
}

/** Result of a migration: an actor of a later version. */
export interface Migrated extends StoredState {
  readonly reminders?: Reminders
  readonly inFlight?: FlightsInProgress
}

/** The parts of a machine that its chart is drawn from. */
export type Chart = Pick<MachineDefinition, 'name' | 'version' | 'machine'>

/** One kind of actor: its machine, the version that commits record, and the pure functions that belong to it. */
export interface MachineDefinition {
  readonly name: string
  readonly version: number
  readonly idPrefix: string
  /** Prefix of the ids that earlier releases generated. Actors with such an id go on as before. */
  readonly olderIdPrefix?: string
  readonly machine: AnyStateMachine
  readonly effects: EffectPolicies
  /** All statuses of the resource in the API. Absent for machines that have no resource. */
  readonly statuses?: readonly string[]
  /** Absent for machines whose actors are in no list. */
  readonly row?: RowOf
  readonly text?: TextFold
  /**
   * The oldest version whose code can read actors of this one: the states are the same, and fields were only added. A
   * process of this version may then run actors while older ones still serve requests. Absent: this version only.
   */
  readonly readableBy?: number
  /** `migrations[n]` converts an actor of version n to version n + 1. */
  readonly migrations: Readonly<Record<number, Migration>>
}

/** Whether an id has the prefix of a machine, or the one that it had earlier. */
export const isIdOf = ({ idPrefix, olderIdPrefix }: MachineDefinition, id: string): boolean =>
  id.startsWith(`${idPrefix}_`) || (olderIdPrefix !== undefined && id.startsWith(`${olderIdPrefix}_`))
