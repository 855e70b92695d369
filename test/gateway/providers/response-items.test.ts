import { expect, it } from 'vitest'
import { responseItems } from '#gateway/providers/response-items.ts'

it('keeps texts that answers and outputs of tools have in parts', () => {
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ]
  const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
  expect(
    responseItems([
      { role: 'assistant', content: parts, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: parts },
    ]),
  ).toEqual([
    { role: 'assistant', content: 'onetwo' },
    { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'onetwo' },
  ])
})
