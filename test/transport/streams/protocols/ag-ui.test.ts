import { expect, it } from 'vitest'
import type { AgUiProtocol } from '#actors/call/call.ts'
import { union } from '#specs/dsl/schema.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import { agUiEvents } from '#specs/events/ag-ui-events.ts'
import type { LogEvent } from '#storage/ports.ts'
import { AgUi } from '#transport/streams/protocols/ag-ui.ts'
import { flaggedLog, logOf, refundLog, restartedLog } from './logs.ts'

const declared = answerChecker(union(Object.values(agUiEvents), 'type').json)
const run = { threadId: 'th', runId: 'r1' }

/** The events of a stream without its first two; each is as declared. */
const eventsOf = (events: readonly LogEvent[], given: Partial<AgUiProtocol> = {}) => {
  const earlier = [{ id: 'u', role: 'user', content: 'Hi' }]
  const fields = { ...run, sessionId: 'ses_1', state: {}, approves: 'end_user', answered: [], earlier } as const
  const stream = new AgUi({ name: 'ag_ui', showsAll: false, ...fields, ...given }, 'page')
  const text = events.map((event) => stream.frames([event])).join('') + stream.end('done')
  const [started, ...all] = text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice('data: '.length)))
  for (const event of [started, ...all]) expect(declared(event), JSON.stringify(event)).toBeNull()
  expect(started).toEqual({ type: 'RUN_STARTED', ...run, protocolVersion: '1.0' })
  return all
}
const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type)
const call = { toolCallId: 'act_1', toolCallName: 'issue_refund', parentMessageId: 'msg_1_2' }

it('a turn up to its approval ends with an interrupt that has the schema of the answer', () => {
  expect(eventsOf(refundLog.slice(0, 5))).toEqual([
    { type: 'STATE_SNAPSHOT', snapshot: { session_id: 'ses_1' } },
    { type: 'TEXT_MESSAGE_START', messageId: 'msg_1_2', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'msg_1_2', delta: 'I will ' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'msg_1_2', delta: 'refund it.' },
    { type: 'TEXT_MESSAGE_END', messageId: 'msg_1_2' },
    { type: 'TOOL_CALL_START', ...call },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'act_1', delta: '{"order":"1042"}' },
    { type: 'TOOL_CALL_END', toolCallId: 'act_1' },
    {
      ...{ type: 'RUN_FINISHED', ...run },
      outcome: {
        type: 'interrupt',
        interrupts: [
          expect.objectContaining({
            id: 'act_1',
            reason: 'approval_required',
            responseSchema: expect.objectContaining({ required: ['approved'] }),
          }),
        ],
      },
    },
  ])
})

it('what a guardrail found changes nothing', () => {
  expect(eventsOf(flaggedLog)).toEqual(eventsOf(refundLog.slice(0, 5)))
})

it('a call that this credential may not decide about is an interrupt for the operator', () => {
  const [interrupt] = eventsOf(refundLog.slice(0, 5), { approves: 'none' }).at(-1).outcome.interrupts
  expect([interrupt.metadata, interrupt.responseSchema]).toEqual([{ approver: 'operator' }, undefined])
})

it('outputs that the page has are not sent again, and the next answer is another message', () => {
  const rest = refundLog.slice(5)
  expect(typesOf(eventsOf(rest))).toEqual([
    ...['STATE_SNAPSHOT', 'TOOL_CALL_RESULT', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
    'RUN_FINISHED',
  ])
  const events = eventsOf(rest, { answered: ['act_1'], state: { mine: 1 } })
  expect(events[0]).toEqual({ type: 'STATE_DELTA', delta: [{ op: 'add', path: '/session_id', value: 'ses_1' }] })
  expect(events[1]).toMatchObject({ type: 'TEXT_MESSAGE_START', messageId: 'msg_1_8' })
  expect(events.at(-1)).toEqual({
    ...{ type: 'RUN_FINISHED', ...run, outcome: { type: 'success' } },
    ...{ result: { turn_number: 1, cost_usd: null }, usage: [{ inputTokens: 3 }] },
  })
})

it('a restart replaces all messages by those without the text that is void', () => {
  const events = eventsOf(restartedLog)
  const at = events.findIndex(({ type }) => type === 'MESSAGES_SNAPSHOT')
  expect(events[at].messages).toMatchObject([
    { id: 'u', content: 'Hi' },
    { id: 'msg_2_2', role: 'assistant', content: 'First. ', toolCalls: [{ id: 'act_1' }] },
    { id: 'act_1_result', role: 'tool', content: 'a title' },
  ])
  const shown = events.slice(at).filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
  expect(shown).toEqual([{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'msg_2_9', delta: 'Second.' }])
})

const reasoned = (...log: Parameters<typeof logOf>[1][]) =>
  logOf(1, ['turn.started', { turn_number: 1, model: 'simulated-1', input_text: 'Why?' }], ...log)
const reasonedTwice = reasoned(
  ['reasoning.delta', { delta: 'Hm' }],
  ['output_text.delta', { delta: 'No' }],
  ['turn.restarted', { from_sequence: 2, attempt: 2 }],
  ['reasoning.delta', { delta: 'Hm, ', attempt: 2 }],
  ['reasoning.delta', { delta: 'so.', attempt: 2 }],
  ['output_text.delta', { delta: 'Because.', attempt: 2 }],
  ['turn.completed', { turn_number: 1, output: 'Because.', usage: null }],
)
const span = (...deltas: readonly string[]) => {
  const of = (type: string, more = {}) => ({ type: `REASONING_${type}`, messageId: 'msg_1_2', ...more })
  const contents = deltas.map((delta) => of('MESSAGE_CONTENT', { delta }))
  return [of('START'), of('MESSAGE_START', { role: 'reasoning' }), ...contents, of('MESSAGE_END'), of('END')]
}

it('what the model reasons is a message before its answer, which a restart empties and goes on with', () => {
  const user = { id: 'u', role: 'user', content: 'Hi' }
  const of = (type: string, messageId: string, more = {}) => ({ type: `TEXT_MESSAGE_${type}`, messageId, ...more })
  const texts = (id: string, delta: string) => [
    of('START', id, { role: 'assistant' }),
    of('CONTENT', id, { delta }),
    of('END', id),
  ]
  expect(eventsOf(reasonedTwice, { state: null }).slice(1, -1)).toEqual([
    ...span('Hm'),
    ...texts('msg_1_3', 'No'),
    { type: 'MESSAGES_SNAPSHOT', messages: [user, { id: 'msg_1_2', role: 'reasoning', content: '' }] },
    ...span('Hm, ', 'so.'),
    ...texts('msg_1_7', 'Because.'),
  ])
})

it('a restart in the middle of reasoning ends it first, and one that follows a call keeps what was reasoned before', () => {
  const middle = eventsOf(reasonedTwice.toSpliced(2, 1))
  expect(typesOf(middle).slice(1, 7)).toEqual([...span('Hm').map(({ type }) => type), 'MESSAGES_SNAPSHOT'])
  const called = { tool: 'get_page', arguments: {}, action_id: 'act_1' }
  const events = eventsOf(
    reasoned(
      ['reasoning.delta', { delta: 'First.' }],
      ['tool_call.started', called],
      ['tool_call.completed', { ...called, output: 'x' }],
      ['reasoning.delta', { delta: 'Sec' }],
      ['turn.restarted', { from_sequence: 4, attempt: 2 }],
    ),
  )
  const { messages } = events.find(({ type }) => type === 'MESSAGES_SNAPSHOT')
  expect(messages.slice(1)).toMatchObject([
    { id: 'msg_1_2', role: 'reasoning', content: 'First.' },
    { role: 'assistant', toolCalls: [{ id: 'act_1' }] },
    { role: 'tool', content: 'x' },
    { id: 'msg_1_5', role: 'reasoning', content: '' },
  ])
})

it('a run that shows all replaces the reasoning of the page, by one snapshot more where no turn before has any', () => {
  const snapshotsOf = (given: Partial<AgUiProtocol>) =>
    eventsOf(reasonedTwice.toSpliced(2, 2), { showsAll: true, ...given }).filter(
      ({ type }) => type === 'MESSAGES_SNAPSHOT',
    )
  const [, ofReasoning] = snapshotsOf({})
  expect(ofReasoning.messages.at(-1)).toEqual({ id: 'msg_1_2_r1', role: 'reasoning', content: '' })
  expect(snapshotsOf({ earlier: [{ id: 'r', role: 'reasoning', content: 'So.' }] }).length).toBe(1)
})

it('a restart ends a run whose earlier messages are not known', () => {
  const events = eventsOf(restartedLog, { earlier: null })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'restarted' })
  expect(typesOf(events)).not.toContain('RUN_FINISHED')
})

it('a credential that ends leaves a text open, which goes on where the run is sent again', () => {
  const fields = { ...run, sessionId: 'ses_1', state: null, approves: 'end_user', answered: [], earlier: null } as const
  const stream = new AgUi({ name: 'ag_ui', showsAll: false, ...fields }, 'page')
  stream.frames(refundLog.slice(0, 3))
  const message = 'The credential of the stream has expired or was revoked.'
  const error = { type: 'RUN_ERROR', code: 'credential_ended', message }
  expect(stream.end('credential_ended')).toBe(`data: ${JSON.stringify(error)}\n\n`)
})

it('a run that shows all begins with the messages before and that of the user', () => {
  const [, snapshot] = eventsOf(refundLog, { showsAll: true })
  expect(snapshot.messages).toEqual([
    { id: 'u', role: 'user', content: 'Hi' },
    { id: 'msg_1_user', role: 'user', content: 'Please refund 1042' },
  ])
})

it('functions of the page are named as open calls, cancelled and failed turns end as such', () => {
  expect(eventsOf(restartedLog.slice(0, 4)).at(-1).outcome).toEqual({ type: 'success', pendingToolCallIds: ['act_1'] })
  const failed = (code: string) => eventsOf(logOf(1, ['turn.failed', { error: { code, message: 'no' } }]))
  expect(failed('cancelled').at(-1).outcome).toEqual({ type: 'cancelled' })
  expect(failed('provider_error').at(-1)).toEqual({ type: 'RUN_ERROR', code: 'provider_error', message: 'no' })
  expect(typesOf(eventsOf([]))).toEqual(['STATE_SNAPSHOT', 'RUN_FINISHED'])
})
