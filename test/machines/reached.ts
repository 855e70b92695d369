import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import type { StoredState } from '#machines/definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'

/** A machine, its input, and the events to try in every state. */
export interface Walk {
  readonly machine: AnyStateMachine
  readonly input: JsonObject
  readonly events: readonly StoredEvent[]
  /** What distinguishes states: two of one kind are visited once. */
  readonly kindOf: (snapshot: AnyMachineSnapshot) => string
  /** Sequences of events to states that are of the same kind as others. */
  readonly paths?: readonly (readonly StoredEvent[])[]
  /** States that earlier releases have stored, and no event leads to. */
  readonly stored?: readonly StoredState[]
}

/** One state of every kind that the events lead to, each by its shortest path. */
export const reachedIn = ({ machine, input, events, kindOf }: Walk): readonly AnyMachineSnapshot[] =>
  getShortestPaths(machine, { input, events: [...events], serializeState: kindOf, limit: 20_000 }).map(
    (path) => path.state,
  )
