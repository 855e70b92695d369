import type { JsonObject } from '../../specs/json.ts'
import { actionMachine } from './action.ts'
import type { MachineDefinition, RowOf, StateValue, StoredState } from './definition.ts'
import { sessionMachine } from './session.ts'
import { deliveryDefinition } from './webhook-delivery-definition.ts'

/** Whether `value` is in `path`, e.g. `isIn(value, 'active', 'working')`. */
export const isInState = (value: StateValue | undefined, ...path: readonly string[]): boolean => {
  const [first, ...rest] = path
  if (first === undefined) return true
  if (typeof value === 'string') return value === first && rest.length === 0
  return value !== undefined && first in value && isInState(value[first], ...rest)
}

const topState = (value: StateValue): string => (typeof value === 'string' ? value : (Object.keys(value)[0] ?? ''))

/** A session's status on the wire (interface "Session"): expired shows as completed. */
export const sessionStatus = (state: StoredState): 'active' | 'paused' | 'completed' | 'deleted' => {
  const top = topState(state.value)
  if (top === 'paused') return 'paused'
  if (top === 'deleted') return 'deleted'
  return top === 'active' ? 'active' : 'completed'
}

const sessionRow: RowOf = (state, facts) => {
  const status = sessionStatus(state)
  if (status === 'deleted') return null
  const { context } = state
  return {
    id: facts.id,
    status,
    turn_count: context.turn,
    agent_id: context.agent_id,
    metadata: context.metadata,
    total_cost: context.total_cost,
  }
}

const actionRow: RowOf = ({ value, context }, facts) => ({
  ...context,
  id: facts.id,
  status: topState(value),
})

/** Sessions: `specs/resources/session.ts` is their interface. */
export const sessionDefinition: MachineDefinition = {
  name: 'session',
  version: 1,
  idPrefix: 'ses',
  machine: sessionMachine,
  effects: { callModel: 'stream', runTool: 'from_params', writeCheckpoint: 'idempotent', eraseSession: 'idempotent' },
  row: sessionRow,
  gone: (state) => sessionStatus(state) === 'deleted',
  text: {
    startsAt: 'turn.started',
    adds: (event) => (event.event_type === 'output_text.delta' ? deltaOf(event.payload) : undefined),
  },
  busy: ({ value }) => isInState(value, 'active', 'working'),
  migrations: {},
}

const deltaOf = (payload: JsonObject): string | undefined =>
  typeof payload.delta === 'string' ? payload.delta : undefined

/** Approval-gated tool calls. */
export const actionDefinition: MachineDefinition = {
  name: 'action',
  version: 1,
  idPrefix: 'act',
  machine: actionMachine,
  effects: { runTool: 'from_params' },
  row: actionRow,
  busy: ({ value }) => isInState(value, 'executing'),
  migrations: {},
}

/** Every machine, by name. Its order is the order of the docs. */
export const definitions: readonly MachineDefinition[] = [sessionDefinition, actionDefinition, deliveryDefinition]

/** The definition of the actor with this id, by its prefix; undefined for an id of another kind. */
export const definitionOf = (id: string): MachineDefinition | undefined =>
  definitions.find((definition) => id.startsWith(`${definition.idPrefix}_`))
