import { expect, it } from 'vitest'
import { uiRequest } from '#actors/sessions/protocols/ui-request.ts'

const of = (...parts: Parameters<typeof uiRequest>[0]['messages'][number]['parts']) =>
  uiRequest({ trigger: 'submit-message', messages: [{ id: 'm1', role: 'assistant', parts }] })

it('reads outputs of the last step, and answered approvals of every step', () => {
  const request = of(
    { type: 'step-start' },
    { type: 'tool-a', toolCallId: 'act_1', state: 'output-available', output: 1 },
    { type: 'tool-b', toolCallId: 'act_2', state: 'approval-responded', approval: { id: 'x', approved: false } },
    { type: 'step-start' },
    { type: 'dynamic-tool', toolCallId: 'act_3', state: 'output-available', output: { a: 1 } },
    { type: 'tool-c', toolCallId: 'act_4', state: 'output-error', errorText: 'No.' },
    { type: 'tool-d', toolCallId: 'act_5', state: 'input-available' },
    { type: 'text', text: 'x' },
  )
  expect(request).toEqual({
    kind: 'continue',
    messageId: 'm1',
    decisions: [
      { action_id: 'act_2', param: 'messages[0].parts[2].toolCallId', approved: false },
      { action_id: 'act_3', param: 'messages[0].parts[4].toolCallId', approved: true, output: '{"a":1}' },
      { action_id: 'act_4', param: 'messages[0].parts[5].toolCallId', approved: true, output: '{"error":"No."}' },
    ],
    calls: ['act_1', 'act_2', 'act_3', 'act_4', 'act_5'],
  })
})
