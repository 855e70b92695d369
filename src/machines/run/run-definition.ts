import type { JsonObject } from '#specs/dsl/json.ts'
import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { isInState, topState } from '../state-value.ts'
import { runMachine } from './run.ts'

/** A run's status on the wire (`runs.get`); null once it is deleted. */
export const runStatus = ({ value }: StoredState) => {
  if (isInState(value, 'open', 'queued')) return 'queued'
  if (isInState(value, 'open', 'started', 'requires_action')) return 'requires_action'
  const top = topState(value)
  if (top === 'completed' || top === 'failed' || top === 'cancelled' || top === 'expired') return top
  return top === 'open' ? 'running' : null
}

const waitsForSlot = ({ value }: StoredState): boolean =>
  isInState(value, 'open', 'queued') || isInState(value, 'open', 'started', 'running', 'returning')

/** What lists and the queue filter on; the run itself is read from its actor, since its input and output may be large. */
const runRow: RowOf = (state, { id }) => {
  const status = runStatus(state)
  if (status === null) return null
  const { agent_id, agent_version_id, version, installation_id, parent, depth, lane, replay_of } = state.context
  const { usage, error, expires_in_ms } = state.context
  return {
    id,
    status,
    agent_id,
    agent_version_id,
    version,
    installation_id,
    parent_run_id: parentOf(parent),
    ...(replay_of !== undefined && { replay_of }),
    depth,
    // only runs that wait are in a lane, so that the next of a lane is one indexed read
    lane: waitsForSlot(state) ? lane : null,
    usage,
    error,
    expires_in_ms,
  }
}

const parentOf = (parent: JsonObject[string]) =>
  typeof parent === 'object' && parent !== null && 'run_id' in parent ? parent.run_id : null

/** Runs: `specs/resources/runs.ts` is their interface. */
export const runDefinition = {
  name: 'run',
  version: 7,
  idPrefix: 'run',
  machine: runMachine,
  effects: { callModel: 'stream', runTool: 'from_params', prepareChild: 'idempotent', eraseRun: 'idempotent' },
  row: runRow,
  gone: (state) => runStatus(state) === null,
  busy: ({ value }) => isInState(value, 'open'),
  // the chart takes what it did not take before; no state means anything else
  migrations: {
    1: (state) => state,
    2: (state) => state,
    3: (state) => state,
    4: (state) => state,
    5: (state) => state,
    6: (state) => state,
  },
} satisfies MachineDefinition
