import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import { type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  action,
  answersInput,
  answersOtherInput,
  approve,
  approveWithEdits,
  approveWithOutput,
  cancel,
  connected,
  connectionEnded,
  connectionGone,
  declinesInput,
  dismissesInput,
  expiry,
  expiryOfInput,
  expiryOfWait,
  failed,
  fails,
  fresh,
  machine,
  needsConnection,
  needsInput,
  progresses,
  reject,
  remove,
  requestedBy,
  succeeded,
  succeeds,
  waiting,
} from './action-samples.ts'

const places = {
  'pending, the caller runs the tool': action('function'),
  'pending, we run the tool': action('http'),
  'pending, an agent is asked': action('agent'),
  "pending, an action of the caller's own": fresh('caller', null),
  approved: action('caller', approve),
  'approved, an agent works': action('agent', approve),
  "approved, an action of the caller's own": after(machine, fresh('caller', null), approve),
  executing: action('http', approve),
  'waiting for a connection': waiting(),
  'approved, and waiting for a connection': action('http', approve, needsConnection),
  'waiting for input': requestedBy(),
  'approved, and waiting for input': action('http', approve, needsInput),
  'executing with an answer': after(machine, requestedBy(), answersInput),
  executed: action('http', approve, succeeds),
  'executed by the caller': action('function', approveWithOutput),
  failed: action('http', approve, fails),
  rejected: action('http', reject),
  expired: action('http', expiry),
  deleted: action('http', remove),
}

const events = {
  approve,
  'approve with an output': approveWithOutput,
  'approve with edits': approveWithEdits,
  'complete with an output': succeeded,
  'complete with an error': failed,
  reject,
  cancel,
  delete: remove,
  tool_succeeded: succeeds,
  tool_failed: fails,
  tool_progressed: progresses,
  expiry,
  connection_required: needsConnection,
  connected,
  connection_ended: connectionEnded,
  'expiry of its wait': expiryOfWait,
  input_required: needsInput,
  'an answer to its question': answersInput,
  'an answer to another question': answersOtherInput,
  'decline its question': declinesInput,
  'dismiss its question': dismissesInput,
  'expiry of its question': expiryOfInput,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const erased = 'deleted: eraseAction!'
const bothRefused: Row = {
  approve: 'refused action_already_resolved',
  'approve with edits': 'refused action_already_resolved',
  'approve with an output': 'refused action_already_resolved',
}
const rejectRefused: Row = { reject: 'refused action_already_resolved' }
/** Events that are not listed are ignored: a repeated decision changes nothing. */
const editsRefused: Row = { 'approve with edits': 'refused action_already_resolved' }
const incomplete: Row = {
  'complete with an output': 'refused invalid_transition',
  'complete with an error': 'refused invalid_transition',
}
const complete: Row = {
  'complete with an output': 'refused action_already_resolved',
  'complete with an error': 'refused action_already_resolved',
}
const endsUnapproved: Row = {
  reject: 'rejected: forget action_rejected>ses_1 notify! audit>audit',
  cancel: 'rejected: forget notify!',
  delete: 'deleted: forget action_rejected>ses_1 eraseAction!',
  expiry: 'expired: forget action_rejected>ses_1 notify!',
}
const executes = 'executing: forget action_approved>ses_1 notify! audit>audit runTool!'
const agrees = 'approved: forget action_approved>ses_1 notify! audit>audit'

const waitsForConnection: Row = {
  approve: 'refused connection_required',
  'approve with an output': 'refused connection_required',
  'approve with edits': 'refused connection_required',
  reject: 'rejected: forget action_rejected>ses_1 notify! audit>audit',
  cancel: 'rejected: forget notify!',
  delete: 'deleted: forget action_rejected>ses_1 eraseAction!',
  connected: 'executing: forget action_approved>ses_1 runTool!',
  connection_ended: 'failed: forget action_approved>ses_1 action_executed>ses_1 notify!',
  'expiry of its wait': 'expired: forget action_rejected>ses_1 notify!',
}

const anyApproval = (outcome: string): Row => ({
  approve: outcome,
  'approve with an output': outcome,
  'approve with edits': outcome,
})

const waitsForInput: Row = {
  ...anyApproval('refused action_already_resolved'),
  ...incomplete,
  reject: 'refused action_already_resolved',
  'an answer to its question': 'executing: forget action_approved>ses_1 audit>audit runTool!',
  'an answer to another question': 'refused action_already_resolved',
  'decline its question': 'executing: forget action_approved>ses_1 audit>audit runTool!',
  'dismiss its question': 'executing: forget action_approved>ses_1 audit>audit runTool!',
  'expiry of its question': 'expired: forget action_rejected>ses_1 notify! releaseInput!',
  cancel: 'rejected: forget notify! releaseInput!',
  delete: 'deleted: forget action_rejected>ses_1 eraseAction!',
}

/** What is not listed is ignored: a decision that is repeated changes nothing. */
const table: Record<keyof typeof places, Row> = {
  'pending, the caller runs the tool': {
    ...endsUnapproved,
    ...incomplete,
    approve: 'refused tool_result_required',
    'approve with edits': 'refused tool_result_required',
    'approve with an output': 'executed: forget action_approved>ses_1 notify! audit>audit notify!',
  },
  'pending, we run the tool': { ...endsUnapproved, ...incomplete, ...anyApproval(executes) },
  'pending, an agent is asked': { ...endsUnapproved, ...incomplete, ...anyApproval(agrees) },
  "pending, an action of the caller's own": {
    ...incomplete,
    ...anyApproval('approved: forget notify! audit>audit'),
    'approve with an output': 'executed: forget notify! audit>audit notify!',
    reject: 'rejected: forget notify! audit>audit',
    cancel: 'rejected: forget notify!',
    delete: 'deleted: forget eraseAction!',
    expiry: 'expired: forget notify!',
  },
  approved: {
    ...rejectRefused,
    ...editsRefused,
    'complete with an output': 'executed: audit>audit notify!',
    'complete with an error': 'failed: audit>audit notify!',
    delete: erased,
  },
  "approved, an action of the caller's own": {
    ...rejectRefused,
    ...editsRefused,
    'complete with an output': 'executed: audit>audit notify!',
    'complete with an error': 'failed: audit>audit notify!',
    delete: erased,
  },
  'approved, an agent works': { ...rejectRefused, ...editsRefused, ...incomplete, delete: erased },
  executing: {
    ...rejectRefused,
    ...editsRefused,
    ...incomplete,
    cancel: 'failed: abort notify!',
    delete: 'deleted: abort action_executed>ses_1 eraseAction!',
    tool_succeeded: 'executed: abort action_executed>ses_1 notify!',
    tool_failed: 'failed: abort action_executed>ses_1 notify!',
    tool_progressed: 'executing: tool_progressed>ses_1',
    connection_required: 'awaiting_connection: abort connection_required>ses_1 wait>connection_waits remind',
    input_required: 'awaiting_input: abort input_required>ses_1 notify! remind',
  },
  'waiting for input': waitsForInput,
  'approved, and waiting for input': waitsForInput,
  'executing with an answer': {
    ...rejectRefused,
    ...editsRefused,
    ...incomplete,
    cancel: 'failed: abort notify!',
    delete: 'deleted: abort action_executed>ses_1 eraseAction!',
    tool_succeeded: 'executed: abort action_executed>ses_1 notify!',
    tool_failed: 'failed: abort action_executed>ses_1 notify!',
    tool_progressed: 'executing: tool_progressed>ses_1',
    connection_required: 'awaiting_connection: abort connection_required>ses_1 wait>connection_waits remind',
    input_required: 'awaiting_input: abort input_required>ses_1 notify! remind',
  },
  'waiting for a connection': { ...incomplete, ...waitsForConnection },
  'approved, and waiting for a connection': { ...incomplete, ...waitsForConnection },
  executed: { ...rejectRefused, ...editsRefused, ...complete, delete: erased },
  'executed by the caller': { ...rejectRefused, ...editsRefused, ...complete, delete: erased },
  failed: { ...rejectRefused, ...editsRefused, ...complete, delete: erased },
  rejected: { ...bothRefused, ...complete, delete: erased },
  expired: { ...bothRefused, ...rejectRefused, ...complete, delete: erased },
  deleted: {
    'approve with edits': 'refused not_found',
    'complete with an output': 'refused not_found',
    'complete with an error': 'refused not_found',
    approve: 'refused not_found',
    'approve with an output': 'refused not_found',
    reject: 'refused not_found',
    cancel: 'refused not_found',
    delete: 'refused not_found',
  },
}

/** An answer to a question is a decision: if there is no question, it is a decision on the call. */
const sameAs: ReadonlyMap<string, string> = new Map([
  ['an answer to its question', 'approve'],
  ['an answer to another question', 'approve'],
  ['decline its question', 'reject'],
  ['dismiss its question', 'reject'],
])

it('covers every state of an action', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('an action that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? row[sameAs.get(name) ?? ''] ?? 'ignored')
  })
})

it('sends the waiting session the output that came with the approval of a function', () => {
  const [next, actions] = transition(machine, action('function'), approveWithOutput)
  expect(next.context).toMatchObject({ resolved_by: 'key_1', note: 'fine', output: '31' })
  const event = { type: 'action_approved', action_id: 'act_1', output: '31' }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
})

it('ignores an output in the approval of a tool that the server runs', () => {
  expect(action('http', approveWithOutput).context).toMatchObject({ output: null, note: 'fine' })
})

it('gives the tool and the session the arguments that the approver edited, and keeps the proposed ones', () => {
  const [next, actions] = transition(machine, fresh('http'), approveWithEdits)
  expect(next.context).toMatchObject({ arguments: '{"amount":2}', proposed_arguments: '{}' })
  const event = { type: 'action_approved', action_id: 'act_1', arguments: '{"amount":2}' }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
  const audited = expect.objectContaining({ action: 'action.approved', changes: ['arguments'] })
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'audit', event: audited }] } }))
})

it('stores what the caller reports for its own action', () => {
  const own = after(machine, fresh('caller', null), approve)
  expect(after(machine, own, succeeded).context).toMatchObject({ output: 'wired', error: null })
  expect(after(machine, own, failed).context).toMatchObject({ output: null, error: { code: 'no_funds' } })
})

it('stores the answer of a person to the server, and notifies the waiting session of it', () => {
  const answers = [
    [answersInput, { action: 'accept', content: { which: 'a' } }],
    [declinesInput, { action: 'decline' }],
    [dismissesInput, { action: 'cancel' }],
  ] as const
  for (const [event, answer] of answers) {
    const [next, actions] = transition(machine, requestedBy(), event)
    expect(JSON.parse(String(next.context.answer))).toEqual(answer)
    const sent = { type: 'action_approved', action_id: 'act_1', answered: answer.action }
    expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event: sent }] } }))
  }
  expect(after(machine, requestedBy(), answersInput, needsInput).context.answer).toBeNull()
})

it('reports why its connection will not be made', () => {
  expect(after(machine, waiting(), connectionEnded).context.error).toMatchObject({ code: 'connection_revoked' })
  const [next, actions] = transition(machine, waiting(), connectionGone)
  expect(next.context.error).toEqual(connectionGone.error)
  const output = JSON.stringify({ error: connectionGone.error })
  const event = { type: 'action_executed', action_id: 'act_1', output }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
})

it('gives the model the failure of a tool as its output', () => {
  const [next, actions] = transition(machine, action('http', approve), fails)
  const error = { code: 'tool_timeout', message: 'It took too long.' }
  expect(next.context.error).toEqual(error)
  const event = { type: 'action_executed', action_id: 'act_1', output: JSON.stringify({ error }) }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
})

it('records in the audit log who decided, when, why, and on which tool', () => {
  const at = Date.parse('2026-01-01T00:00:00.000Z')
  const by = { kind: 'secret_key', id: 'key_1' }
  const resource = { type: 'action', id: 'act_1', name: 'tool' }
  for (const [event, done, reason] of [
    [approve, 'action.approved', {}],
    [{ ...approve, note: 'it is fine' }, 'action.approved', { reason: 'it is fine' }],
    [{ ...reject, reason: 'too much' }, 'action.rejected', { reason: 'too much' }],
  ] as const) {
    const line = { type: 'audit', at, action: done, by, resource, changes: [], ...reason }
    const [, actions] = transition(machine, fresh('http'), event)
    expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'audit', event: line }] } }))
  }
})

it('stores who decided, when and why', () => {
  const at = '2026-01-01T00:00:00.000Z'
  expect(action('http', reject).context).toMatchObject({ resolved_by: 'key_1', resolved_at: at, note: 'too risky' })
  expect(action('agent', approve).context).toMatchObject({ resolved_by: 'key_1', resolved_at: at, note: null })
  expect(action('http', expiry).context).toMatchObject({ resolved_by: null, resolved_at: null })
})

it('shows webhooks none of the arguments', () => {
  const [, listed] = transition(machine, action('http'), approve)
  const actions: readonly ListedAction[] = listed
  const notices = actions.filter(({ type }) => type === 'notify').map((each) => paramsOf.notify(each).data)
  const known = { action_id: 'act_1', tool: 'tool', risk_level: 'medium', run_id: null, session_id: 'ses_1' }
  expect(notices).toEqual([{ ...known, status: 'approved', resolved_by: 'key_1' }])
})
