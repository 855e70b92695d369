import { BadRequestError, NotFoundError } from 'openai'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { principals } from '#test/transport/api/serving.ts'
import { checkedResponse, responsesWorld } from './responses-world.ts'
import { calling, saying } from './scripted-chat.ts'

const lookup = {
  type: 'function' as const,
  name: 'look_up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { q: { type: 'string' } } },
  strict: true,
}

describe('a response', () => {
  it('has the text of the model and its usage', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('Hello', ' there.') }])
    const response = await openai.responses.create({ model: 'model-1', input: 'hi', instructions: 'Be short.' })
    expect(response.output_text).toBe('Hello there.')
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      model: 'model-1-2026',
      instructions: 'Be short.',
      error: null,
      incomplete_details: null,
      store: true,
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 2 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 12,
      },
    })
    expect(response.output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello there.', annotations: [], logprobs: [] }],
      },
    ])
    const { output_text: _added, ...document } = response
    expect(checkedResponse(document)).toBeNull()
    expect(chat.last).toEqual({
      model: 'model-1',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  it('passes the options of the request to the model', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('{}') }])
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const response = await openai.responses.create({
      model: 'model-1',
      ...{ models: ['model-2'] },
      input: 'hi',
      ...{ max_output_tokens: 50, temperature: 0.5, top_p: 0.9 },
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true }, verbosity: 'low' },
      tools: [lookup],
      tool_choice: { type: 'function', name: 'look_up' },
      parallel_tool_calls: false,
      metadata: { order: '7' },
      ...{ prompt_cache_key: 'order 7', prompt_cache_retention: '24h', safety_identifier: 'ada', service_tier: 'flex' },
    })
    const { type: _type, ...declared } = lookup
    expect(chat.last).toMatchObject({
      models: ['model-2'],
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      reasoning_effort: 'low',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      tools: [{ type: 'function', function: declared }],
      tool_choice: { type: 'function', function: { name: 'look_up' } },
      parallel_tool_calls: false,
      ...{ prompt_cache_key: 'order 7', prompt_cache_retention: '24h', safety_identifier: 'ada', service_tier: 'flex' },
    })
    expect(response).toMatchObject({
      max_output_tokens: 50,
      temperature: 0.5,
      metadata: { order: '7' },
      tools: [lookup],
      tool_choice: { type: 'function', name: 'look_up' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'json_schema', name: 'answer' }, verbosity: 'low' },
    })
  })

  it('has an item for each function call of the model and accepts their outputs', async () => {
    const deltas = [
      ...saying('Let me see.'),
      ...calling(0, 'call_1', 'look_up', '{"q":', '"a"}'),
      ...calling(1, 'call_2', 'look_up', '{}'),
    ]
    const { openai, chat } = await responsesWorld([
      { deltas, finishReason: 'tool_calls' },
      { deltas: saying('Found.') },
    ])
    const first = await openai.responses.create({ model: 'model-1', input: 'look', tools: [lookup], store: false })
    const [message, ...calls] = first.output
    expect(message).toMatchObject({ type: 'message' })
    expect(calls).toEqual([
      {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'look_up',
        arguments: '{"q":"a"}',
      },
      expect.objectContaining({ call_id: 'call_2', arguments: '{}' }),
    ])
    await openai.responses.create({
      model: 'model-1',
      tools: [lookup],
      input: [
        { role: 'user', content: 'look' },
        ...first.output.filter((item) => item.type === 'message' || item.type === 'function_call'),
        { type: 'function_call_output', call_id: 'call_1', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'call_2',
          output: [
            { type: 'input_text', text: 'two' },
            { type: 'input_image', image_url: 'https://images.example/cat.png', detail: 'low' },
          ],
        },
      ],
    })
    const call = (id: string, text: string) => ({
      id,
      type: 'function',
      function: { name: 'look_up', arguments: text },
    })
    expect(chat.last.messages).toEqual([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: 'Let me see.', tool_calls: [call('call_1', '{"q":"a"}'), call('call_2', '{}')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'one' },
      { role: 'tool', tool_call_id: 'call_2', content: 'two' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://images.example/cat.png', detail: 'low' } }],
      },
    ])
  })

  it('accepts images and files, and requires a vision model', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('a cat') }])
    await openai.responses.create({
      model: 'model-1',
      input: [
        { role: 'developer', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'https://images.example/cat.png', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
          ],
        },
      ],
    })
    expect(chat.received[0]?.need).toBe('vision')
    expect(chat.last.messages).toEqual([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'https://images.example/cat.png', detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        ],
      },
    ])
  })

  it('contains the visible reasoning and the refusal of the model', async () => {
    const deltas = [{ reasoning_content: 'Hmm.' }, { refusal: 'I will not.' }]
    const { openai } = await responsesWorld([{ deltas }])
    const { output } = await openai.responses.create({ model: 'model-1', input: 'do' })
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hmm.' }] },
      { type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] },
    ])
  })

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('is incomplete when the answer ends with %s', async (finishReason, reason) => {
    const { openai } = await responsesWorld([{ deltas: saying('Hel'), finishReason }])
    const response = await openai.responses.create({ model: 'model-1', input: 'hi' })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, completed_at: null })
    expect(response.output).toMatchObject([{ status: 'incomplete' }])
  })

  it('is retried with a shorter context when it is too long and truncation is auto', async () => {
    const error = new ServiceError('context_length_exceeded')
    const { openai, chat } = await responsesWorld([{ error, refused: true }, { deltas: saying('ok') }])
    const input = ['a', 'b', 'c', 'd'].flatMap((text) => [
      { role: 'user' as const, content: text },
      { role: 'assistant' as const, content: text.toUpperCase() },
    ])
    const request = {
      model: 'model-1',
      instructions: 'Be short.',
      input: [...input, { role: 'user' as const, content: 'e' }],
    }
    await openai.responses.create({ ...request, truncation: 'auto' })
    expect(chat.last.messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'd' },
      { role: 'assistant', content: 'D' },
      { role: 'user', content: 'e' },
    ])
    const strict = await responsesWorld([{ error, refused: true }])
    await expect(strict.openai.responses.create(request)).rejects.toMatchObject({ status: 400, code: error.code })
  })

  it.each([
    [{ input: 'x', background: true, store: false }, 400, 'store'],
    [{ input: 'x', conversation: 'conv_1' }, 404, 'conversation'],
    [{ input: 'x', conversation: 'conv_1', previous_response_id: 'resp_1' }, 400, 'conversation'],
    [{ input: 'x', prompt: { id: 'pmpt_1' } }, 404, 'prompt.id'],
    [{ input: 'x', tools: [{ type: 'mcp' }] }, 400, 'tools[0].server_label'],
    [{ input: 'x', tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, 400, 'tools'],
    [{ input: [{ type: 'computer_call', id: 'msg_1' }] }, 400, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
      400,
      'input[0].content[0].file_id',
    ],
    [{ input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] }, 400, 'input'],
    [{ input: [{ type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{}' }] }, 400, 'input'],
    [{ input: 'x', previous_response_id: 'resp_unknown' }, 404, 'previous_response_id'],
    [{}, 400, 'input'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 400, 'input[0].role'],
    [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 400, 'input[0].content[0].type'],
    [{ input: 'x', tools: [{ type: 'function' }] }, 400, 'tools[0].name'],
    [{ input: 'x', tool_choice: 'sometimes' }, 400, 'tool_choice'],
    [{ input: 'x', text: { format: { type: 'xml' } } }, 400, 'text.format.type'],
    [{ input: 'x', temperature: 3 }, 400, 'temperature'],
  ])('names the invalid field of %j', async (body, status, param) => {
    const { send, chat } = await responsesWorld([{}])
    const refused = await send('/v1/responses', { model: 'model-1', ...body })
    expect(refused).toMatchObject({ status, json: { error: { param, type: 'invalid_request_error' } } })
    expect(chat.received).toEqual([])
  })
})

describe('a stored response', () => {
  it('is continued by its id, without its instructions', async () => {
    const { openai, chat } = await responsesWorld([
      { deltas: saying('One.') },
      { deltas: calling(0, 'call_1', 'look_up', '{}'), finishReason: 'tool_calls' },
      { deltas: saying('Three.') },
    ])
    const model = 'model-1'
    const first = await openai.responses.create({ model, input: 'first', instructions: 'Be short.' })
    const second = await openai.responses.create({
      model,
      input: 'second',
      previous_response_id: first.id,
      tools: [lookup],
    })
    const third = await openai.responses.create({
      model,
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'found' }],
      previous_response_id: second.id,
    })
    expect(third.previous_response_id).toBe(second.id)
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    expect(chat.last.messages).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'second' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'found' },
    ])
  })

  it('is read and deleted through the SDK', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('One.') }])
    const made = await openai.responses.create({ model: 'model-1', input: 'first' })
    expect(await openai.responses.retrieve(made.id)).toEqual(made)
    const items = await openai.responses.inputItems.list(made.id)
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'first' }] },
    ])
    await openai.responses.delete(made.id)
    await expect(openai.responses.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError)
    await expect(openai.responses.delete(made.id)).rejects.toBeInstanceOf(NotFoundError)
    const goOn = openai.responses.create({ model: 'model-1', input: 'x', previous_response_id: made.id })
    await expect(goOn).rejects.toMatchObject({ status: 404, param: 'previous_response_id' })
  })

  it('lists its input in pages', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('ok') }])
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
    const { id } = await openai.responses.create({ model: 'model-1', input })
    const texts: unknown[] = []
    for await (const item of openai.responses.inputItems.list(id, { limit: 2, order: 'asc' })) {
      texts.push('content' in item ? item.content : null)
    }
    expect(texts).toEqual(['a', 'b', 'c'].map((text) => [{ type: 'input_text', text }]))
  })

  it('is not stored with store: false', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('One.') }])
    const made = await openai.responses.create({ model: 'model-1', input: 'first', store: false })
    expect(made).toMatchObject({ store: false })
    await expect(openai.responses.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError)
  })

  it('expires after 30 days', async () => {
    const { openai, clock } = await responsesWorld([{ deltas: saying('One.') }])
    const now = Date.now()
    clock.now = now - 30 * 24 * 3600 * 1000 - 1000
    const old = await openai.responses.create({ model: 'model-1', input: 'first' })
    clock.now = now - 29 * 24 * 3600 * 1000
    const young = await openai.responses.create({ model: 'model-1', input: 'first' })
    clock.now = now
    await expect(openai.responses.retrieve(old.id)).rejects.toBeInstanceOf(NotFoundError)
    expect((await openai.responses.retrieve(young.id)).id).toBe(young.id)
  })

  it('of an agent key is hidden from the key of another agent and from other projects', async () => {
    const { send } = await responsesWorld([{ deltas: saying('One.') }])
    const mine = principals.agent_key
    const theirs = { ...mine, agentId: 'agt_2', keyId: 'key_9' }
    const body = { model: 'model-1', input: 'secret' }
    const made = await send('/v1/responses', body, { as: mine })
    const { id } = JSON.parse(made.text)
    expect(await send(`/v1/responses/${id}`, undefined, { as: mine })).toMatchObject({ status: 200 })
    expect(await send(`/v1/responses/${id}`, undefined, { as: theirs })).toMatchObject({ status: 404 })
    expect(await send(`/v1/responses/${id}`, undefined, { method: 'DELETE', as: theirs })).toMatchObject({
      status: 404,
    })
    expect(await send('/v1/responses', { ...body, previous_response_id: id }, { as: theirs })).toMatchObject({
      status: 404,
    })
    const foreign = { ...principals.secret_key, project: 'prj_2' }
    expect(await send(`/v1/responses/${id}`, undefined, { as: foreign })).toMatchObject({ status: 404 })
    expect(await send(`/v1/responses/${id}`)).toMatchObject({ status: 200 })
  })

  it('of one tenant cannot be continued by another tenant or by the project itself', async () => {
    const { send } = await responsesWorld([{ deltas: saying('One.') }])
    const request = (body: object, tenant?: string) =>
      send(
        '/v1/responses',
        { model: 'model-1', input: 'x', ...body },
        tenant ? { headers: { 'x-tenant-id': tenant } } : {},
      )
    const { id } = JSON.parse((await request({}, 'ten_1')).text)
    const next = { previous_response_id: id }
    expect(await request(next, 'ten_1')).toMatchObject({ status: 200 })
    expect(await request(next, 'ten_2')).toMatchObject({ status: 404 })
    expect(await request(next)).toMatchObject({ status: 404 })
    const ofProject = JSON.parse((await request({})).text)
    expect(await request({ previous_response_id: ofProject.id }, 'ten_1')).toMatchObject({ status: 404 })
  })

  it('is refused to public keys', async () => {
    const { send } = await responsesWorld([{ deltas: saying('One.') }])
    const as = { ...principals.agent_key, keyType: 'public' as const }
    expect(await send('/v1/responses', { model: 'model-1', input: 'x' }, { as })).toMatchObject({ status: 403 })
    expect(await send('/v1/responses/resp_1', undefined, { as })).toMatchObject({ status: 403 })
  })

  it('is returned with store: false when it cannot be stored', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('One.') }], {
      records: (records) => Object.assign(Object.create(records), { insert: () => Promise.reject(new Error('down')) }),
    })
    const made = await openai.responses.create({ model: 'model-1', input: 'first' })
    expect(made).toMatchObject({ output_text: 'One.', store: false })
  })
})

describe('the errors of a response', () => {
  it('have the error classes and codes of the SDK', async () => {
    const { openai } = await responsesWorld([{ error: new ServiceError('context_length_exceeded'), refused: true }])
    const pending = openai.responses.create({ model: 'model-1', input: 'x' })
    await expect(pending).rejects.toBeInstanceOf(BadRequestError)
    const streamed = openai.responses.create({ model: 'model-1', input: 'x', stream: true })
    await expect(streamed).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
  })
})
