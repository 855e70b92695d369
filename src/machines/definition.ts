import type { AnyStateMachine } from 'xstate'
import type { JsonObject, LogEvent } from '#specs/dsl/json.ts'
import type { FlightsInProgress, Reminders } from './pending.ts'
import type { EffectPolicies } from './vocabulary.ts'

/** Where an actor stands, as plain data; what a commit's `snapshot` holds. */
export interface StoredState {
  readonly value: StateValue
  readonly context: JsonObject
}

/** XState's state value as JSON: a name, or names nested. */
export type StateValue = string | { readonly [state: string]: StateValue | undefined }

/** Facts about an actor that are not the machine's own. Times in ms since the epoch. */
export interface ActorFacts {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** The list row of an actor: what GET and list answer. `null`: the actor has no row any more. */
export type RowOf = (state: StoredState, facts: ActorFacts) => JsonObject | null

/** Text that the host keeps beside a running actor, folded from its log, and fills into payloads for `turnText`. */
export interface TextFold {
  /** An event of this type starts the text anew. */
  readonly startsAt: string
  /** What an event adds; undefined for nothing. */
  readonly adds: (event: LogEvent) => string | undefined
}

/**
 * Turns an actor of one version into one of the next; pure. What it leaves out of `reminders` and `inFlight` is over: an
 * effect that runs is ended, and one that is new begins. Without them they stay as they were.
 */
export type Migration = (state: StoredState, reminders: Reminders, inFlight: FlightsInProgress) => Migrated

/** An actor of a later version. */
export interface Migrated extends StoredState {
  readonly reminders?: Reminders
  readonly inFlight?: FlightsInProgress
}

/** A machine as its chart shows it. */
export type Chart = Pick<MachineDefinition, 'name' | 'version' | 'machine'>

/** One kind of actor: its machine, the version that commits name, and the pure functions around it. */
export interface MachineDefinition {
  readonly name: string
  readonly version: number
  readonly idPrefix: string
  readonly machine: AnyStateMachine
  readonly effects: EffectPolicies
  readonly row: RowOf
  /** True once the resource is deleted: it is not found any more. Absent for resources that stay. */
  readonly gone?: (state: StoredState) => boolean
  readonly text?: TextFold
  /** True while a turn or run goes on: streams of this actor stay open. */
  readonly busy: (state: StoredState) => boolean
  /** `migrations[n]` turns an actor of version n into one of n + 1. */
  readonly migrations: Readonly<Record<number, Migration>>
}
