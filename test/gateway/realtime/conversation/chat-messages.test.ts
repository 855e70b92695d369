import { describe, expect, it } from 'vitest'
import { chatMessages } from '#gateway/realtime/conversation/chat-messages.ts'

const says = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'look_up', arguments: '{}' })
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: `of ${call_id}` })
const outline = (items: readonly object[]) =>
  chatMessages(
    '',
    items.map((item) => ({ ...item })),
  ).map(({ role, tool_calls, tool_call_id, content }) =>
    Array.isArray(tool_calls) ? tool_calls.map(({ id }) => id) : [role, tool_call_id ?? content],
  )

describe('the messages of a conversation', () => {
  it('have each output directly behind its call, whatever the user said in between', () => {
    expect(outline([says('user', 'go'), call('a'), says('user', 'hurry'), output('a')])).toEqual([
      ['user', 'go'],
      ['a'],
      ['tool', 'a'],
      ['user', 'hurry'],
    ])
  })

  it('have the outputs of calls made at once behind all of them, and of calls made in turn behind each', () => {
    expect(outline([call('a'), call('b'), output('b'), output('a')])).toEqual([
      ['a', 'b'],
      ['tool', 'a'],
      ['tool', 'b'],
    ])
    expect(outline([call('a'), output('a'), call('b'), output('b')])).toEqual([
      ['a'],
      ['tool', 'a'],
      ['b'],
      ['tool', 'b'],
    ])
  })

  it('have the own output of each call, also when a model uses the id of a call again', () => {
    const items = [call('a'), { ...output('a'), output: 'first' }, call('a'), { ...output('a'), output: 'second' }]
    expect(chatMessages('', items).flatMap(({ role, content }) => (role === 'tool' ? [content] : []))).toEqual([
      'first',
      'second',
    ])
    expect(outline([call('a'), says('user', 'again'), call('a'), output('a')])).toEqual([
      ['user', 'again'],
      ['a'],
      ['tool', 'a'],
    ])
  })

  it('have no output whose call was deleted or forgotten, and no call without an output', () => {
    expect(outline([output('gone'), says('user', 'go'), call('open')])).toEqual([['user', 'go']])
  })
})
