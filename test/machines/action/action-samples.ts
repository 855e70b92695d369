import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { ActionKind } from '#machines/action/action-data.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = actionDefinition

const inputOf = (kind: ActionKind, owner: string | null): JsonObject => ({
  action_id: 'act_1',
  owner,
  session_id: 'ses_1',
  run_id: null,
  kind,
  tool: 'tool',
  arguments: '{}',
  risk_level: 'medium',
  policy: 'at_most_once',
  expires_in_ms: 5000,
  config: null,
})

/** A new action of a kind; `owner` is notified of its outcome. */
export const fresh = (kind: ActionKind, owner: string | null = 'ses_1'): AnyMachineSnapshot =>
  initialTransition(machine, inputOf(kind, owner))[0]

const decision = {
  by: 'key_1',
  at: '2026-01-01T00:00:00.000Z',
  audit: { by: { kind: 'secret_key', id: 'key_1' }, at: Date.parse('2026-01-01T00:00:00.000Z') },
}
export const approve: StoredEvent = { type: 'approve', ...decision }
export const approveWithOutput: StoredEvent = { type: 'approve', ...decision, note: 'fine', output: '31' }
export const approveWithEdits: StoredEvent = { type: 'approve', ...decision, arguments: '{"amount":2}' }
export const succeeded: StoredEvent = { type: 'complete', ...decision, output: 'wired' }
export const failed: StoredEvent = { type: 'complete', ...decision, error: { code: 'no_funds', message: 'None left.' } }
export const reject: StoredEvent = { type: 'reject', ...decision, reason: 'too risky' }
export const cancel: StoredEvent = { type: 'cancel' }
export const remove: StoredEvent = { type: 'delete' }
export const succeeds: StoredEvent = { type: 'tool_succeeded', output: 'done' }
export const fails: StoredEvent = { type: 'tool_failed', code: 'tool_timeout', message: 'It took too long.' }
export const progresses: StoredEvent = { type: 'tool_progressed', progress: 1, total: 2, message: 'Half.' }
const connection = { connection_id: 'con_1', connector: 'github', authorize_url: null, expires_at: null }
export const needsConnection: StoredEvent = { type: 'connection_required', connection }
export const connected: StoredEvent = { type: 'connected' }
export const connectionEnded: StoredEvent = { type: 'connection_ended' }
export const connectionGone: StoredEvent = {
  type: 'connection_ended',
  error: { code: 'connection_not_found', message: 'It is gone.' },
}
const input = {
  ...{ server: 'Notes', server_url: 'https://notes.example/mcp', mode: 'form', message: 'Which one?' },
  ...{ schema: { type: 'object', properties: {}, required: [] }, url: null, secret_fields: [] },
  ...{ round: 1, resume: '{}' },
}
export const needsInput: StoredEvent = { type: 'input_required', input }
export const answersInput: StoredEvent = { type: 'approve', ...decision, content: '{"which":"a"}', round: 1 }
export const answersOtherInput: StoredEvent = { type: 'approve', ...decision, content: '{"which":"a"}', round: 2 }
export const declinesInput: StoredEvent = { type: 'reject', ...decision, round: 1 }
export const dismissesInput: StoredEvent = { type: 'reject', ...decision, response: 'cancel', round: 1 }
export const expiryOfInput: StoredEvent = { type: 'xstate.after.expiry.action.awaiting_input' }
export const expiryOfWait: StoredEvent = { type: 'xstate.after.expiry.action.awaiting_connection' }
export const expiry: StoredEvent = { type: 'xstate.after.expiry.action.pending_approval' }

/** A new action of a call that waits for a connection. */
export const waiting = (owner: string | null = 'ses_1'): AnyMachineSnapshot =>
  initialTransition(machine, { ...inputOf('builtin', owner), connection })[0]

/** A new action of a call whose server requests input. */
export const requestedBy = (owner: string | null = 'ses_1'): AnyMachineSnapshot =>
  initialTransition(machine, { ...inputOf('builtin', owner), input })[0]

/** An action after these events. */
export const action = (kind: ActionKind, ...events: readonly StoredEvent[]): AnyMachineSnapshot =>
  after(machine, fresh(kind), ...events)

/** What the call of an action waits for when the action is created. */
export const waitsFor = { connection: { connection }, input: { input } }

/** Every event in every state of an action of this kind. */
export const walkOf = (kind: ActionKind, more: JsonObject = {}): Walk => ({
  machine,
  input: { ...inputOf(kind, 'ses_1'), ...more },
  events: [
    ...[approve, approveWithOutput, approveWithEdits, succeeded, failed],
    ...[reject, cancel, remove, succeeds, fails, expiry],
    ...[progresses, needsConnection, connected, connectionEnded, expiryOfWait],
    ...[needsInput, answersInput, declinesInput, dismissesInput, expiryOfInput],
  ],
  kindOf: ({ value }) => pathOf(value),
})
