import { NotFoundError } from 'openai'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { principals } from '#test/transport/api/serving.ts'
import { responsesWorld } from './responses-world.ts'
import { calling, saying } from './scripted-chat.ts'

const userMessage = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text })

describe('a conversation', () => {
  it('is created, read, changed and deleted through the official SDK', async () => {
    const { openai } = await responsesWorld([])
    const made = await openai.conversations.create({ items: [userMessage('Hi')], metadata: { topic: 'a' } })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^conv_/),
      object: 'conversation',
      metadata: { topic: 'a' },
    })
    expect(await openai.conversations.retrieve(made.id)).toEqual(made)
    expect(await openai.conversations.update(made.id, { metadata: { topic: 'b' } })).toMatchObject({
      ...{ id: made.id, metadata: { topic: 'b' } },
    })
    expect(await openai.conversations.delete(made.id)).toEqual({
      ...{ id: made.id, object: 'conversation.deleted', deleted: true },
    })
    await expect(openai.conversations.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError)
  })

  it('supports adding, paging, reading and deleting items', async () => {
    const { openai } = await responsesWorld([])
    const { id } = await openai.conversations.create({ items: [userMessage('one')] })
    const more = await openai.conversations.items.create(id, { items: [userMessage('two'), userMessage('three')] })
    expect(more.data.map((item) => item.type)).toEqual(['message', 'message'])
    const seen: string[] = []
    for await (const item of openai.conversations.items.list(id, { limit: 2, order: 'asc' })) seen.push(item.id ?? '')
    expect(seen.slice(1)).toEqual(more.data.map((item) => item.id))
    const [first = ''] = seen
    expect(await openai.conversations.items.retrieve(first, { conversation_id: id })).toMatchObject({
      ...{ id: first, role: 'user', content: [{ type: 'input_text', text: 'one' }] },
    })
    expect(await openai.conversations.items.delete(first, { conversation_id: id })).toMatchObject({ id })
    const gone = openai.conversations.items.retrieve(first, { conversation_id: id })
    await expect(gone).rejects.toBeInstanceOf(NotFoundError)
  })

  it('is the context of a response and stores it, with and without streaming', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('Ada.') }, { deltas: saying('Yes.') }])
    const conversation = (await openai.conversations.create({ items: [userMessage('I am Ada.')] })).id
    const first = await openai.responses.create({ model: 'm', input: 'Who am I?', conversation })
    expect(first).toMatchObject({ conversation: { id: conversation } })
    expect(chat.last.messages).toEqual([
      { role: 'user', content: 'I am Ada.' },
      { role: 'user', content: 'Who am I?' },
    ])
    const stream = await openai.responses.create({
      ...{ model: 'm', input: 'Sure?', conversation: { id: conversation }, stream: true, store: false },
    })
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    expect(types.at(-1)).toBe('response.completed')
    expect(chat.last.messages).toHaveLength(4)
    const { data } = await openai.conversations.items.list(conversation, { order: 'asc' })
    expect(data.map((item) => ('role' in item ? item.role : item.type))).toEqual([
      ...['user', 'user', 'assistant', 'user', 'assistant'],
    ])
  })

  it('keeps a tool call open until its output arrives', async () => {
    const { openai, chat } = await responsesWorld([
      { deltas: calling(0, 'c1', 'look_up', '{"q":"x"}') },
      { deltas: saying('Found.') },
    ])
    const conversation = (await openai.conversations.create()).id
    await openai.responses.create({ model: 'm', input: 'Look.', conversation })
    const output = { type: 'function_call_output' as const, call_id: 'c1', output: '42' }
    const done = await openai.responses.create({ model: 'm', input: [output], conversation })
    expect(done.output_text).toBe('Found.')
    expect(chat.last.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'tool', content: '42' }])
  })

  it('holds at most 4 MB, and a response that does not fit has conversation: null', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('x'.repeat(1_000_000)) }])
    const long = Array.from({ length: 4 }, () => userMessage('x'.repeat(900_000)))
    const { id } = await openai.conversations.create({ items: long })
    const more = openai.conversations.items.create(id, { items: long })
    await expect(more).rejects.toMatchObject({ status: 400, param: 'items' })
    const answer = await openai.responses.create({ model: 'm', input: 'Go on.', conversation: id })
    expect(answer).toMatchObject({ status: 'completed', conversation: null })
    expect((await openai.conversations.items.list(id)).data).toHaveLength(4)
  })

  it('is hidden from other projects and the key of another agent', async () => {
    const { openai, send } = await responsesWorld([{ deltas: saying('x') }])
    const { id } = await openai.conversations.create()
    const others = { ...principals.secret_key, project: 'prj_other' }
    const agents = { ...principals.agent_key, keyType: 'secret' as const }
    for (const as of [others, agents]) {
      expect((await send(`/v1/conversations/${id}`, undefined, { as })).status).toBe(404)
      const body = { model: 'm', input: 'x', conversation: id }
      const refused = await send('/v1/responses', body, { as })
      expect(refused).toMatchObject({ status: 404, json: { error: { param: 'conversation' } } })
    }
  })

  it('excludes previous_response_id, stays unchanged when its model fails, and refuses invalid items', async () => {
    const { openai, send } = await responsesWorld([{ error: new ServiceError('provider_error') }])
    const { id } = await openai.conversations.create()
    const both = openai.responses.create({ model: 'm', input: 'x', conversation: id, previous_response_id: 'resp_1' })
    await expect(both).rejects.toMatchObject({ status: 400, param: 'conversation' })
    await expect(openai.responses.create({ model: 'm', input: 'x', conversation: id })).rejects.toThrow()
    expect((await openai.conversations.items.list(id)).data).toEqual([])
    const odd = await send(`/v1/conversations/${id}/items`, { items: [{ type: 'message', role: 'user', content: 7 }] })
    expect(odd).toMatchObject({ status: 400, json: { error: { param: 'items[0].content' } } })
  })
})

describe('the stream of a stored response', () => {
  it('consists of the events of its document, from the start or after a sequence number', async () => {
    const { openai } = await responsesWorld([
      { deltas: calling(0, 'c1', 'look_up', '{"q":1}') },
      { deltas: saying('Hello.') },
    ])
    const made = await openai.responses.create({ model: 'm', input: 'Hi' })
    const said = await openai.responses.create({
      ...{ model: 'm', input: [{ type: 'function_call_output', call_id: 'c1', output: '1' }] },
      previous_response_id: made.id,
    })
    const eventsOf = async (id: string, starting_after?: number) => {
      const query = { stream: true as const, ...(starting_after !== undefined && { starting_after }) }
      const events = []
      for await (const event of await openai.responses.retrieve(id, query)) events.push(event)
      return events
    }
    const events = await eventsOf(said.id)
    expect(events.map(({ type }) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.done', 'response.content_part.done'],
      ...['response.output_item.done', 'response.completed'],
    ])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect((await eventsOf(said.id, 6)).map(({ type }) => type)).toEqual([
      ...['response.output_item.done', 'response.completed'],
    ])
    const last = await eventsOf(said.id, 500)
    expect(last).toMatchObject([{ type: 'response.completed', sequence_number: 501, response: { id: said.id } }])
    const calls = await eventsOf(made.id)
    expect(calls.map(({ type }) => type)).toContain('response.function_call_arguments.done')
    const helper = openai.responses.stream({ response_id: said.id })
    expect((await helper.finalResponse()).output_text).toBe('Hello.')
  })
})

describe('the context of a response', () => {
  it('is measured by length, including the previous response', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('Hello there, how are you?') }])
    const first = await openai.responses.create({ model: 'm', input: 'Hi' })
    const alone = await openai.responses.inputTokens.count({ model: 'm', input: 'What is the weather like today?' })
    expect(alone).toMatchObject({ object: 'response.input_tokens', input_tokens: expect.any(Number) })
    const after = await openai.responses.inputTokens.count({
      ...{ model: 'm', input: 'What is the weather like today?', previous_response_id: first.id },
    })
    expect(after.input_tokens).toBeGreaterThan(alone.input_tokens)
    expect((await openai.responses.inputTokens.count({ input: 'x' })).input_tokens).toBeGreaterThan(0)
  })

  it('is compacted to one item that becomes a summary when it is sent again', async () => {
    const { openai, chat, send } = await responsesWorld([
      { deltas: saying('Ada likes tea.') },
      { deltas: saying('Tea.') },
    ])
    const compaction = await openai.responses.compact({
      model: 'm',
      input: [userMessage('I am Ada.'), userMessage('I like tea.')],
    })
    expect(compaction).toMatchObject({
      ...{ object: 'response.compaction', output: [{ type: 'compaction', id: expect.stringMatching(/^cmp_/) }] },
      usage: { total_tokens: 12 },
    })
    expect(JSON.stringify(chat.last.messages)).toContain('user: I like tea.')
    const body = { model: 'm', input: [...compaction.output, userMessage('What do I like?')] }
    expect((await send('/v1/responses', body)).status).toBe(200)
    expect(chat.last.messages).toEqual([
      { role: 'system', content: 'Summary of the conversation so far:\n\nAda likes tea.' },
      { role: 'user', content: 'What do I like?' },
    ])
    const foreign = { type: 'compaction' as const, encrypted_content: 'gAAAA' }
    await expect(openai.responses.create({ model: 'm', input: [foreign] })).rejects.toMatchObject({
      ...{ status: 400, param: 'input[0].encrypted_content' },
    })
  })
})
