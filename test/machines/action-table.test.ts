import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import type { StoredEvent } from '../../src/storage/ports.ts'
import {
  action,
  approve,
  approveWithOutput,
  cancel,
  expiry,
  fails,
  fresh,
  machine,
  reject,
  succeeds,
} from './action-samples.ts'
import { outcomeOf, pathOf, restingStates } from './outcome.ts'

const places = {
  'pending, the caller runs the tool': action('function'),
  'pending, we run the tool': action('http'),
  "pending, an action of the caller's own": fresh('caller', null),
  approved: action('caller', approve),
  executing: action('http', approve),
  executed: action('http', approve, succeeds),
  'executed by the caller': action('function', approveWithOutput),
  failed: action('http', approve, fails),
  rejected: action('http', reject),
  expired: action('http', expiry),
}

const events = {
  approve,
  'approve with an output': approveWithOutput,
  reject,
  cancel,
  tool_succeeded: succeeds,
  tool_failed: fails,
  expiry,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const bothRefused: Row = {
  approve: 'refused action_already_resolved',
  'approve with an output': 'refused action_already_resolved',
}
const rejectRefused: Row = { reject: 'refused action_already_resolved' }
const endsUnapproved: Row = {
  reject: 'rejected: forget action_rejected>ses_1',
  cancel: 'rejected: forget',
  expiry: 'expired: forget action_rejected>ses_1',
}

/** What is not listed is ignored: a decision that is repeated changes nothing. */
const table: Record<keyof typeof places, Row> = {
  'pending, the caller runs the tool': {
    ...endsUnapproved,
    approve: 'refused tool_result_required',
    'approve with an output': 'executed: forget action_approved>ses_1',
  },
  'pending, we run the tool': {
    ...endsUnapproved,
    approve: 'executing: forget action_approved>ses_1 runTool!',
    'approve with an output': 'executing: forget action_approved>ses_1 runTool!',
  },
  "pending, an action of the caller's own": {
    approve: 'approved: forget',
    'approve with an output': 'approved: forget',
    reject: 'rejected: forget',
    cancel: 'rejected: forget',
    expiry: 'expired: forget',
  },
  approved: rejectRefused,
  executing: {
    ...rejectRefused,
    cancel: 'failed: abort',
    tool_succeeded: 'executed: action_executed>ses_1',
    tool_failed: 'failed: action_executed>ses_1',
  },
  executed: rejectRefused,
  'executed by the caller': rejectRefused,
  failed: rejectRefused,
  rejected: bothRefused,
  expired: { ...bothRefused, ...rejectRefused },
}

it('has a place for every state of an action', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('has a sample of every event that the machine names', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('an action that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('answers %s as the table says', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})

it('tells the waiting session the output that came with the approval of a function', () => {
  const [next, actions] = transition(machine, action('function'), approveWithOutput)
  expect(next.context).toMatchObject({ resolved_by: 'key_1', note: 'fine', output: '31' })
  const event = { type: 'action_approved', action_id: 'act_1', output: '31' }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
})

it('keeps what an approval of our own tool brings as output out of the result', () => {
  expect(action('http', approveWithOutput).context).toMatchObject({ output: null, note: 'fine' })
})

it('gives the model the failure of a tool as its output', () => {
  const [next, actions] = transition(machine, action('http', approve), fails)
  const error = { code: 'tool_timeout', message: 'It took too long.' }
  expect(next.context.error).toEqual(error)
  const event = { type: 'action_executed', action_id: 'act_1', output: JSON.stringify({ error }) }
  expect(actions).toContainEqual(expect.objectContaining({ params: { messages: [{ to: 'ses_1', event }] } }))
})
