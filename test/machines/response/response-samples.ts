import type { MachineDefinition } from '#machines/definition.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
const { machine }: MachineDefinition = responseDefinition

export const input = {
  response_id: 'resp_1',
  request: { model: 'm', input: 'hi', background: true },
  caller: { tenant: null, agent_id: null },
  input: [{ type: 'message', role: 'user', content: 'hi' }],
  document: { id: 'resp_1', status: 'queued', output: [], error: null },
}

export const begins: StoredEvent = { type: 'begun' }
export const made: StoredEvent = { type: 'response_made', document: { ...input.document, status: 'completed' } }
export const shown: StoredEvent = { type: 'response_shown', delta: 'a\nb\n', cuts: [2, 2] }
export const restarts: StoredEvent = { type: 'response_restarted' }
export const fails: StoredEvent = { type: 'response_failed', code: 'provider_error', message: 'It failed.' }
export const cancels: StoredEvent = { type: 'cancel' }
export const deletion: StoredEvent = { type: 'delete' }
const retention: StoredEvent = { type: 'xstate.after.retention.response.settled' }

/** Every event in every state of a response. */
export const walk: Walk = {
  machine,
  input,
  events: [begins, shown, restarts, made, fails, cancels, deletion, retention],
  kindOf: ({ value, context }) => `${pathOf(value)} ${JSON.stringify(context.document)}`,
}
