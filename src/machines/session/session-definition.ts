import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, Migration, RowOf } from '../index.ts'
import { rowFields } from '../row-fields.ts'
import { sessionMachine } from './session.ts'
import { inactivityMs } from './session-actions.ts'
import { sessionFields } from './session-data.ts'
import { deltaEvent } from './session-steps.ts'

const sessionRow: RowOf = ({ context }, { id, status }) => ({ id, status, ...rowFields(sessionFields, context) })

/** Before version 12 a session that a rejection had completed never expired. */
const expiringAfterRejection: Migration = (state, { reminders, at }) => {
  if (state.value !== 'completed') return state
  const type = 'xstate.after.inactivity.session.completed'
  return { ...state, reminders: { ...reminders, [type]: { due: at + inactivityMs, event: { type }, n: 0 } } }
}

/** Sessions, as defined in `specs/resources/sessions.ts`. */
export const sessionDefinition = {
  name: 'session',
  version: 12,
  readableBy: 1,
  idPrefix: 'ses',
  machine: sessionMachine,
  effects: {
    callModel: 'stream',
    runTool: 'from_params',
    writeCheckpoint: 'idempotent',
    endMemory: 'idempotent',
    eraseSession: 'idempotent',
  },
  statuses: statuses.session,
  row: sessionRow,
  text: {
    startsAt: 'turn.started',
    restartsAt: 'turn.restarted',
    part: 'model_delta',
    piece: ({ turn, restarts }, text) => deltaEvent({ turn: Number(turn), restarts: numberOf(restarts) }, text),
    adds: (event) => (event.event_type === 'output_text.delta' ? deltaOf(event.payload) : undefined),
  },
  // up to 11, each version accepts events that the version before did not
  migrations: {
    1: (state) => state,
    2: (state) => state,
    3: (state) => state,
    4: (state) => state,
    5: (state) => state,
    6: (state) => state,
    7: (state) => state,
    8: (state) => state,
    9: (state) => state,
    10: (state) => state,
    11: expiringAfterRejection,
  },
} satisfies MachineDefinition

const deltaOf = (payload: JsonObject): string | undefined =>
  typeof payload.delta === 'string' ? payload.delta : undefined

const numberOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)
