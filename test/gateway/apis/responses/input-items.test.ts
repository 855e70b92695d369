import { describe, expect, it } from 'vitest'
import { inputItems, messagesOf } from '#gateway/apis/responses/input-items.ts'
import { responsesWorld } from '../responses-world.ts'
import { calling, saying } from '../scripted-chat.ts'

const says = (role: string, content: string) => ({ role, content })
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'look_up', arguments: '{}' })
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: `of ${call_id}` })
const outline = (items: readonly object[]) =>
  messagesOf(inputItems(items.map((item) => ({ ...item })))).map(({ role, content, tool_calls, tool_call_id }) => [
    role,
    Array.isArray(tool_calls) ? tool_calls.map(({ id }) => id) : (tool_call_id ?? content),
  ])

describe('the messages of an input', () => {
  it('have each output directly behind its call, wherever the input has it', () => {
    expect(outline([says('user', 'go'), call('a'), says('user', 'hurry'), output('a')])).toEqual([
      ['user', 'go'],
      ['assistant', ['a']],
      ['tool', 'a'],
      ['user', 'hurry'],
    ])
    expect(outline([call('a'), output('a'), call('a'), output('a')])).toEqual([
      ['assistant', ['a']],
      ['tool', 'a'],
      ['assistant', ['a']],
      ['tool', 'a'],
    ])
  })

  it('are one message for a call and the text that the model wrote after it', () => {
    const items = inputItems([call('a'), says('assistant', 'Wait.'), call('b'), output('b'), output('a')])
    expect(messagesOf(items)).toMatchObject([
      { role: 'assistant', content: 'Wait.', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a', content: 'of a' },
      { role: 'tool', tool_call_id: 'b', content: 'of b' },
    ])
  })
})

describe('a response', () => {
  it('takes an item by its id alone, as a reference without a type', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('First.') }, { deltas: saying('Second.') }])
    const {
      output: [item],
    } = await openai.responses.create({ model: 'model-1', input: 'one' })
    await openai.responses.create({
      model: 'model-1',
      input: [{ id: item?.id ?? '' }, { role: 'user', content: 'two' }],
    })
    expect(chat.last.messages).toEqual([
      { role: 'assistant', content: 'First.' },
      { role: 'user', content: 'two' },
    ])
  })

  it('gives a call without arguments an empty object, whole and streamed', async () => {
    const script = { deltas: calling(0, 'call_1', 'look_up'), finishReason: 'tool_calls' }
    const { openai } = await responsesWorld([script])
    const request = { model: 'model-1', input: 'look' }
    const events = []
    for await (const event of await openai.responses.create({ ...request, stream: true })) events.push(event)
    const made = events.filter(({ type }) => type.startsWith('response.function_call_arguments'))
    expect(made).toMatchObject([{ delta: '{}' }, { arguments: '{}' }])
    expect((await openai.responses.create(request)).output).toMatchObject([{ type: 'function_call', arguments: '{}' }])
  })
})
