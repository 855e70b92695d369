import { expect, it } from 'vitest'
import type { UiMessageProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { union } from '#specs/dsl/schema.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import { uiMessageParts } from '#specs/events/ui-message-parts.ts'
import type { LogEvent } from '#storage/ports.ts'
import { UiMessages } from '#transport/streams/protocols/ui-messages.ts'
import { flaggedLog, logOf, refundLog, restartedLog } from './logs.ts'

const declared = answerChecker(union(Object.values(uiMessageParts), 'type').json)

interface Given extends Partial<UiMessageProtocol> {
  readonly reader?: EventReader
}

/** The parts of a stream, with their types alone where they have nothing else; each is as declared. */
const partsOf = (events: readonly LogEvent[], { reader = 'page', ...given }: Given = {}) => {
  const protocol = { name: 'ui_messages', messageId: null, calls: [], approves: 'end_user', ...given } as const
  const stream = new UiMessages(protocol, reader)
  const text = events.map((event) => stream.frames([event])).join('') + stream.end('done')
  const frames = text.split('\n\n').slice(0, -1)
  expect(frames.pop()).toBe('data: [DONE]')
  return frames.map((frame) => {
    const part = JSON.parse(frame.slice('data: '.length))
    expect(declared(part), frame).toBeNull()
    return Object.keys(part).length === 1 ? part.type : part
  })
}

const call = { toolCallId: 'act_1', toolName: 'issue_refund', input: { order: '1042' } }

it('a turn up to its approval is one step that ends with the request', () => {
  expect(partsOf(refundLog.slice(0, 5))).toEqual([
    { type: 'start', messageId: 'msg_1_assistant' },
    'start-step',
    { type: 'text-start', id: 'txt_2' },
    { type: 'text-delta', id: 'txt_2', delta: 'I will ' },
    { type: 'text-delta', id: 'txt_2', delta: 'refund it.' },
    { type: 'text-end', id: 'txt_2' },
    { type: 'tool-input-available', ...call },
    { type: 'tool-approval-request', approvalId: 'act_1', toolCallId: 'act_1' },
    'finish-step',
    { type: 'finish', finishReason: 'tool-calls' },
  ])
})

it('what a guardrail found changes nothing', () => {
  expect(partsOf(flaggedLog)).toEqual(partsOf(refundLog.slice(0, 5)))
})

it('what continues a message begins with a step of its own', () => {
  expect(partsOf(refundLog.slice(5), { messageId: 'of the page', calls: ['act_1'] })).toEqual([
    { type: 'start', messageId: 'of the page' },
    { type: 'tool-output-available', toolCallId: 'act_1', output: { receipt: 1 } },
    'start-step',
    { type: 'text-start', id: 'txt_8' },
    { type: 'text-delta', id: 'txt_8', delta: 'Done.' },
    { type: 'text-end', id: 'txt_8' },
    'finish-step',
    { type: 'finish', finishReason: 'stop', messageMetadata: { turn_number: 1, usage: { input_tokens: 3 } } },
  ])
  const nothing = { messageId: 'of the page', calls: ['act_1'] }
  expect(partsOf([], nothing).slice(0, 2)).toEqual([{ type: 'start', messageId: 'of the page' }, 'start-step'])
})

it('a message whose turn still waits for another call gets no further step', () => {
  const other = { ...refundLog[4]?.payload, action_id: 'act_2' }
  const log = logOf(1, ['turn.resumed', { action_id: 'act_1', resolution: 'approved' }], ['turn.paused', other])
  expect(partsOf(log, { messageId: 'm', calls: ['act_1', 'act_2'] })).toEqual([
    { type: 'start', messageId: 'm' },
    { type: 'tool-approval-request', approvalId: 'act_2', toolCallId: 'act_2' },
    { type: 'finish', finishReason: 'tool-calls' },
  ])
})

it('an answer without text after the outputs of tools is a step of its own', () => {
  const silent = refundLog.filter(({ sequence }) => sequence !== 8)
  const steps = partsOf(silent).filter((part) => part === 'start-step' || part.type === 'tool-output-available')
  expect(steps.at(-1)).toBe('start-step')
})

it('a replay has the decision and the output, and the next model call in a step of its own', () => {
  expect(partsOf(refundLog).slice(6, 12)).toEqual([
    { type: 'tool-input-available', ...call },
    { type: 'tool-approval-request', approvalId: 'act_1', toolCallId: 'act_1' },
    { type: 'tool-approval-response', approvalId: 'act_1', approved: true },
    { type: 'tool-output-available', toolCallId: 'act_1', output: { receipt: 1 } },
    'finish-step',
    'start-step',
  ])
})

it('requests an approval only from readers that may give it', () => {
  const isRequested = (given: Given, log = refundLog) =>
    partsOf(log.slice(0, 5), given).some(({ type }) => type === 'tool-approval-request')
  const operators = logOf(
    1,
    ...refundLog
      .slice(0, 5)
      .map(({ event_type, payload }) => [event_type, { ...payload, approver: 'operator' }] as const),
  )
  expect(isRequested({ approves: 'none' })).toBe(false)
  expect(isRequested({}, operators)).toBe(false)
  expect(isRequested({ approves: 'every', reader: 'caller' }, operators)).toBe(true)
})

it('takes back the text of the model call that a crash made void, and no other', () => {
  const parts = partsOf(restartedLog)
  expect(parts.slice(2)).toEqual([
    { type: 'text-start', id: 'txt_2' },
    { type: 'text-delta', id: 'txt_2', delta: 'First. ' },
    { type: 'text-end', id: 'txt_2' },
    { ...{ type: 'tool-input-available', toolCallId: 'act_1', toolName: 'get_page', input: { order: '1042' } } },
    { type: 'tool-output-available', toolCallId: 'act_1', output: 'a title' },
    'finish-step',
    'start-step',
    { type: 'text-start', id: 'txt_6' },
    { type: 'text-delta', id: 'txt_6', delta: 'Sec' },
    'reset-step',
    { type: 'text-start', id: 'txt_9' },
    { type: 'text-delta', id: 'txt_9', delta: 'Second.' },
    { type: 'text-end', id: 'txt_9' },
    'finish-step',
    { type: 'finish', finishReason: 'stop', messageMetadata: { turn_number: 2, usage: null } },
  ])
})

it('has what the model reasons as a part of its own before the text, and takes it back with the step', () => {
  const parts = partsOf(
    logOf(
      1,
      ['turn.started', { turn_number: 1, model: 'simulated-1', input_text: 'Why?' }],
      ['reasoning.delta', { delta: 'Hm' }],
      ['turn.restarted', { from_sequence: 2, attempt: 2 }],
      ['reasoning.delta', { delta: 'Hm, ', attempt: 2 }],
      ['reasoning.delta', { delta: 'so.', attempt: 2 }],
      ['output_text.delta', { delta: 'Because.', attempt: 2 }],
      ['turn.completed', { turn_number: 1, output: 'Because.', usage: null }],
    ),
  )
  expect(parts.slice(2, -2)).toEqual([
    { type: 'reasoning-start', id: 'rsn_2' },
    { type: 'reasoning-delta', id: 'rsn_2', delta: 'Hm' },
    'reset-step',
    { type: 'reasoning-start', id: 'rsn_4' },
    { type: 'reasoning-delta', id: 'rsn_4', delta: 'Hm, ' },
    { type: 'reasoning-delta', id: 'rsn_4', delta: 'so.' },
    { type: 'reasoning-end', id: 'rsn_4' },
    { type: 'text-start', id: 'txt_6' },
    { type: 'text-delta', id: 'txt_6', delta: 'Because.' },
    { type: 'text-end', id: 'txt_6' },
  ])
})

it('goes on with the message over a turn that only brings outputs', () => {
  const owed = [{ tool: 'get_page', arguments: {}, action_id: 'act_2' }]
  const parts = partsOf([
    ...logOf(
      3,
      ['turn.started', { turn_number: 3, input_text: 'x' }],
      ['tool_call.started', { tool: 'get_page', arguments: {}, action_id: 'act_2', run_by: 'caller' }],
      ['turn.completed', { turn_number: 3, output: '', usage: null, tool_calls: owed }],
    ),
    ...logOf(
      4,
      ['turn.started', { turn_number: 4, input_text: '', tool_results: [{ action_id: 'act_2', output: '[1]' }] }],
      ['output_text.delta', { delta: 'One.' }],
      ['turn.completed', { turn_number: 4, output: 'One.', usage: null }],
    ),
  ])
  expect(parts.filter(({ type }) => type === 'start' || type === 'finish')).toEqual([
    { type: 'start', messageId: 'msg_3_assistant' },
    { type: 'finish', finishReason: 'stop', messageMetadata: { turn_number: 4, usage: null } },
  ])
  expect(parts).toContainEqual({ type: 'tool-output-available', toolCallId: 'act_2', output: [1] })
})

it('shows what else a turn waits for, citations, rejections, failures and cancellations', () => {
  const connection = { connection_id: 'con_1', connector: 'mail', authorize_url: null, expires_at: null }
  const input = { server: 's', mode: 'form' }
  const of = (...events: Parameters<typeof logOf>[1][]) => partsOf(logOf(1, ...events), { calls: ['act_1'] }).slice(1)
  expect(
    of(['turn.paused', { reason: 'connection_required', action_id: 'act_1', tool: 'mail', connection }])[0],
  ).toEqual({
    ...{ type: 'data-connection', id: 'act_1' },
    data: { action_id: 'act_1', tool: 'mail', connection },
  })
  expect(of(['turn.paused', { reason: 'input_required', action_id: 'act_1', tool: 's', input }])[0].type).toBe(
    'data-input',
  )
  expect(
    of(['tool_call.progress', { action_id: 'act_1', tool: 's', progress: 1, total: null, message: null }])[0],
  ).toMatchObject({ type: 'data-progress', transient: true })
  expect(of(['turn.resumed', { action_id: 'act_1', resolution: 'rejected' }])[0]).toEqual({
    type: 'tool-output-denied',
    toolCallId: 'act_1',
  })
  const annotations = [{ type: 'url_citation', start_index: 0, end_index: 1, url: 'https://x.example/', title: 'X' }]
  expect(of(['turn.completed', { turn_number: 1, output: '', usage: null, annotations }])[0]).toMatchObject({
    type: 'source-url',
    url: 'https://x.example/',
  })
  const failed = (code: string) => of(['turn.failed', { turn_number: 1, error: { code, message: 'No.' } }])
  expect(failed('provider_error')).toEqual([{ type: 'error', errorText: 'No.' }])
  expect(failed('cancelled')).toEqual([
    { type: 'abort', reason: 'No.' },
    'start-step',
    'finish-step',
    { type: 'finish', finishReason: 'interrupted' },
  ])
})

it('ends with an error when the credential or the session ends', () => {
  const stream = new UiMessages({ name: 'ui_messages', messageId: null, calls: [], approves: 'none' }, 'person')
  expect(stream.end('deleted')).toBe(
    'data: {"type":"error","errorText":"The session was deleted.","code":"deleted"}\n\ndata: [DONE]\n\n',
  )
})
