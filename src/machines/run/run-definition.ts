import { matchesState } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf, StoredState } from '../index.ts'
import { rowFields } from '../row-fields.ts'
import { runMachine } from './run.ts'
import { runFields } from './run-data.ts'

const waitsForSlot = ({ value }: StoredState): boolean =>
  matchesState('open.queued', value) || matchesState('open.started.running.returning', value)

/**
 * The fields by which lists and the queue filter. The run itself is read from its actor, since its input and output may
 * be large.
 */
const runRow: RowOf = (state, { id, status }) => {
  const { parent, depth, lane, expires_in_ms } = state.context
  return {
    ...{ id, status, depth, expires_in_ms },
    ...rowFields(runFields, state.context),
    parent_run_id: parentOf(parent),
    // set only while the run waits, so that the next run of a lane is one indexed read
    lane: waitsForSlot(state) ? lane : null,
  }
}

const parentOf = (parent: JsonObject[string]) =>
  typeof parent === 'object' && parent !== null && 'run_id' in parent ? parent.run_id : null

/** Runs, as defined in `specs/resources/runs.ts`. */
export const runDefinition = {
  name: 'run',
  version: 7,
  readableBy: 1,
  idPrefix: 'run',
  machine: runMachine,
  effects: { callModel: 'stream', runTool: 'from_params', prepareChild: 'idempotent', eraseRun: 'idempotent' },
  statuses: statuses.run,
  row: runRow,
  // each version accepts events that the version before did not; no state changed its meaning
  migrations: {
    1: (state) => state,
    2: (state) => state,
    3: (state) => state,
    4: (state) => state,
    5: (state) => state,
    6: (state) => state,
  },
} satisfies MachineDefinition
