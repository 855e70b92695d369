import { expect, it } from 'vitest'
import { MessageFold } from '#actors/sessions/messages/message-fold.ts'
import { agUiMessagesOf } from '#actors/sessions/protocols/ag-ui-messages.ts'
import type { LogEvent } from '#storage/ports.ts'

const call = { tool: 'issue_refund', action_id: 'act_1' }
const log: readonly LogEvent[] = [
  ['turn.started', { input_text: 'Please refund 1042' }] as const,
  ['reasoning.delta', { delta: 'May I?' }] as const,
  ['output_text.delta', { delta: 'I will refund it.' }] as const,
  ['tool_call.started', { ...call, arguments: { order: '1042' } }] as const,
  ['tool_call.completed', { ...call, output: '{"receipt":1}' }] as const,
  ['reasoning.delta', { delta: 'It went well.' }] as const,
  ['output_text.delta', { delta: 'Done.' }] as const,
].map(([event_type, payload], at) => ({ sequence: at + 1, turn_number: 1, event_type, payload }))

it('an answer with its calls is one message of AG-UI, reasoning and each output another, what follows further ones', () => {
  const fold = new MessageFold('page', 1024)
  for (const event of log) fold.take(event)
  const toolCall = { id: 'act_1', type: 'function', function: { name: 'issue_refund', arguments: '{"order":"1042"}' } }
  expect(agUiMessagesOf(fold.page(false))).toEqual([
    { id: 'msg_1_user', role: 'user', content: 'Please refund 1042' },
    { id: 'msg_1_assistant_reasoning', role: 'reasoning', content: 'May I?' },
    { id: 'msg_1_assistant', role: 'assistant', content: 'I will refund it.', toolCalls: [toolCall] },
    { id: 'act_1_result', role: 'tool', toolCallId: 'act_1', content: '{"receipt":1}' },
    { id: 'msg_1_assistant_2_reasoning', role: 'reasoning', content: 'It went well.' },
    { id: 'msg_1_assistant_2', role: 'assistant', content: 'Done.' },
  ])
})
