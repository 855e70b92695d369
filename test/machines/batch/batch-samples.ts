import { batchDefinition } from '#machines/batch/batch-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
const { machine }: MachineDefinition = batchDefinition

export const input = {
  ...{ batch_id: 'batch_1', input_file_id: 'file_1', endpoint: '/v1/embeddings', completion_window: '1h' },
  ...{ window_ms: 3_600_000, metadata: {}, caller: { tenant: null, agent_id: null }, created_at_ms: 0 },
}

const tokens = { input: 1, output: 2, cached: 0, reasoning: 0 }
const error = { code: 'invalid_json_line', line: 1, message: 'The line is not a JSON object.', param: null }

export const validated: StoredEvent = { type: 'validated', total: 10, chunks: [0], at: 1 }
const rejected: StoredEvent = { type: 'rejected', errors: [error], at: 1 }
export const done: StoredEvent = { type: 'line_done', ok: true, tokens, metered: [], at: 2 }
export const lineFailed: StoredEvent = { type: 'line_done', ok: false, tokens, metered: [], at: 2 }
const finished: StoredEvent = { type: 'finished', output_file_id: 'file_2', error_file_id: null, at: 3 }
export const cancels: StoredEvent = { type: 'cancel', at: 2 }
const deletion: StoredEvent = { type: 'delete' }
export const expires: StoredEvent = { type: 'xstate.after.window.batch.working' }
const graceEnds: StoredEvent = { type: 'xstate.after.grace.batch.working.cancelling' }

/** Every event in every state of a batch. */
export const walk: Walk = {
  machine,
  input,
  events: [...[validated, { ...validated, total: 2 }, rejected, done, finished, cancels, deletion, expires, graceEnds]],
  kindOf: ({ value, context }) =>
    `${pathOf(value)} ${context.total} ${context.started} ${context.completed} ${context.outcome}`,
}
