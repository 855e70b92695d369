import { afterAll, beforeAll, expect, it } from 'vitest'
import { patience } from '#test/e2e/patience.ts'
import { World } from '#test/e2e/world.ts'
import { answerText, type CloudServer, picture } from '#test/support/clouds/cloud-server.ts'

/** A cloud, the connection that reaches it, and what its answers cost. */
export interface CloudUnderTest {
  readonly server: CloudServer
  readonly connection: object
  /** Texts of the credentials that appear nowhere. */
  readonly secrets: readonly string[]
  readonly model: string
  /** 120 tokens in, 7 out. */
  readonly cost: string
  /** The same, of which 100 were read from the cache; `written` more were written to it. */
  readonly cachedCost: string
  readonly written: number
  /** Whether the cloud knows marks in the prompt up to which it is cached. */
  readonly marks: boolean
  /** Ids of the models that the cloud lists. */
  readonly listed: readonly string[]
}

const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools = [{ type: 'function', function: { name: 'weather', description: 'Weather', parameters: weather } }]
const say = (content: unknown) => [{ role: 'user', content }]

/** What every cloud guarantees, through the product's own HTTP, to callers of OpenAI's API and of Anthropic's. */
export const cloudGuarantees = (open: () => Promise<CloudUnderTest>): (() => World) => {
  let cloud: CloudUnderTest
  let world: World
  let id: string

  beforeAll(async () => {
    cloud = await open()
    world = await World.start({ tools: [cloud.server] })
    const made = await world.api.post('/v1/provider-connections', { name: 'Cloud', ...cloud.connection })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    id = made.body.id
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await cloud.server.close()
  })

  const openAi = (content: unknown, more: object = {}) =>
    world.api.post('/v1/chat/completions', { model: cloud.model, messages: say(content), ...more })
  const anthropic = (content: unknown, more: object = {}) =>
    world.api.post('/v1/messages', { model: cloud.model, max_tokens: 100, messages: say(content), ...more })
  const streamOf = (path: string, body: object) => world.api.stream(path, { model: cloud.model, stream: true, ...body })
  const streamed = async (path: string, body: object) => {
    const answer = await world.api.fetch(path, { model: cloud.model, stream: true, ...body })
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'))
    return lines.map((line) => Object(JSON.parse(line.slice('data: '.length))))
  }

  it('accepts the credentials, lists its models, and shows the credentials nowhere', async () => {
    const tested = await world.api.post(`/v1/provider-connections/${id}/test`)
    expect(tested.body).toMatchObject({ success: true, model_count: cloud.listed.length })
    const sync = (await world.api.post(`/v1/provider-connections/${id}/model-syncs`)).body
    expect(sync.added.map((model: { readonly id: string }) => model.id)).toEqual(cloud.listed)
    const shown = JSON.stringify((await world.api.get(`/v1/provider-connections/${id}`)).body)
    for (const secret of cloud.secrets) {
      expect(shown).not.toContain(secret)
      expect(await world.mentions(secret)).toEqual({})
      expect(world.server.log()).not.toContain(secret)
    }
  })

  it('answers a text with its usage, and the cost to the last digit', async () => {
    const { status, headers, body } = await openAi('text')
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.choices[0]).toMatchObject({ message: { content: answerText }, finish_reason: 'stop' })
    expect(body.usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 7, cost_usd: Number(cloud.cost) })
    expect([headers.get('x-cost-usd'), headers.get('x-provider-connection')]).toEqual([cloud.cost, id])
    const message = await anthropic('text')
    expect(message.body).toMatchObject({ content: [{ type: 'text', text: answerText }], stop_reason: 'end_turn' })
    expect(message.body.usage).toMatchObject({ input_tokens: 120, output_tokens: 7 })
    await expect
      .poll(async () => (await world.api.get('/v1/usage/events')).body.data[0], patience)
      .toMatchObject({ billing_mode: 'byok', provider_cost_usd: cloud.cost, input_tokens: 120, output_tokens: 7 })
  })

  it('prices the tokens of the prompt cache', async () => {
    const mark = cloud.marks ? { cache_control: { type: 'ephemeral' } } : {}
    const { headers, body } = await openAi([{ type: 'text', text: 'cached', ...mark }])
    expect(headers.get('x-cost-usd'), JSON.stringify(body)).toBe(cloud.cachedCost)
    expect(body.usage.prompt_tokens_details.cached_tokens).toBe(100)
    const message = await anthropic('cached')
    expect(message.body.usage).toMatchObject({ input_tokens: 20, cache_read_input_tokens: 100 })
    if (cloud.written > 0) expect(message.body.usage.cache_creation_input_tokens).toBe(cloud.written)
  })

  it('streams a text with its usage', async () => {
    const include = { stream_options: { include_usage: true } }
    const chunks = await streamed('/v1/chat/completions', { messages: say('text'), ...include })
    const texts = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    expect(texts.join('')).toBe(answerText)
    expect(chunks.find(({ usage }) => usage)?.usage).toMatchObject({
      ...{ prompt_tokens: 120, completion_tokens: 7, cost_usd: Number(cloud.cost) },
    })
    const events = await streamed('/v1/messages', { max_tokens: 100, messages: say('text') })
    expect(events.map(({ delta }) => delta?.text ?? '').join('')).toBe(answerText)
    expect(events.at(-1)).toMatchObject({ type: 'message_stop' })
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({ usage: { output_tokens: 7 } })
  })

  it('calls a tool and takes its result, whole and streamed', async () => {
    const called = await openAi('tool', { tools })
    const { message, finish_reason } = called.body.choices[0]
    expect(finish_reason, JSON.stringify(called.body)).toBe('tool_calls')
    expect(message.tool_calls[0].function).toEqual({ name: 'weather', arguments: '{"city":"Oslo"}' })
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'sunny' }
    const messages = [...say('tool'), message, result]
    const answered = await world.api.post('/v1/chat/completions', { model: cloud.model, messages, tools })
    expect(answered.body.choices[0].message.content).toBe('It is sunny.')
    const chunks = await streamed('/v1/chat/completions', { messages: say('tool'), tools })
    const parts = chunks.flatMap(({ choices }) => choices?.[0]?.delta?.tool_calls ?? [])
    expect(parts.map((part: { function?: { arguments?: string } }) => part.function?.arguments ?? '').join('')).toBe(
      '{"city":"Oslo"}',
    )
    const theirs = [{ name: 'weather', description: 'Weather', input_schema: weather }]
    const used = await anthropic('tool', { tools: theirs })
    const block = { type: 'tool_use', name: 'weather', input: { city: 'Oslo' } }
    expect(used.body).toMatchObject({ stop_reason: 'tool_use', content: [block] })
    const tool_result = { type: 'tool_result', tool_use_id: used.body.content[0].id, content: 'sunny' }
    const history = [
      ...say('tool'),
      { role: 'assistant', content: used.body.content },
      { role: 'user', content: [tool_result] },
    ]
    const after = await anthropic('', { messages: history, tools: theirs })
    expect(after.body.content).toMatchObject([{ type: 'text', text: 'It is sunny.' }])
  })

  it('shows a picture to the model', async () => {
    const image_url = { url: `data:image/png;base64,${picture}` }
    const shown = await openAi([
      { type: 'image_url', image_url },
      { type: 'text', text: 'image' },
    ])
    expect(shown.body.choices?.[0].message.content, JSON.stringify(shown.body)).toBe('A picture.')
    const source = { type: 'base64', media_type: 'image/png', data: picture }
    const message = await anthropic([
      { type: 'image', source },
      { type: 'text', text: 'image' },
    ])
    expect(message.body.content).toMatchObject([{ type: 'text', text: 'A picture.' }])
  })

  it('answers by a schema', async () => {
    const json_schema = { name: 'place', schema: { ...weather, additionalProperties: false }, strict: true }
    const { body } = await openAi('json', { response_format: { type: 'json_schema', json_schema } })
    expect(JSON.parse(body.choices[0].message.content), JSON.stringify(body)).toEqual({ city: 'Oslo' })
  })

  it('passes on refusals and the time to wait', async () => {
    expect(await openAi('refuse')).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    const limited = await openAi('limit')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await anthropic('limit')).headers.get('retry-after')).toBe('60')
  })

  it('reports a stream that breaks off as broken', async () => {
    const messages = say('break')
    for (const [path, more] of [
      ['/v1/chat/completions', {}] as const,
      ['/v1/messages', { max_tokens: 100 }] as const,
    ]) {
      const answer = await world.api.fetch(path, { model: cloud.model, stream: true, messages, ...more })
      const text = await textSoFar(answer)
      expect(text, path).toMatch(/The provider (ended its stream early|returned an error)/)
      expect(text, path).not.toMatch(/"finish_reason":"stop"|message_stop|\[DONE\]/)
    }
  })

  it('is cancelled in milliseconds when its caller leaves', async () => {
    const reader = await streamOf('/v1/chat/completions', { messages: say('hang') })
    await reader.until(({ data }) => JSON.stringify(data).includes('Hello'))
    const left = performance.now()
    reader.stop()
    const closed = await cloud.server.received.at(-1)?.closed
    expect((closed ?? Number.POSITIVE_INFINITY) - left).toBeLessThan(500)
  })

  it('was sent nothing that its schema does not have', () => {
    expect(cloud.server.problems).toEqual([])
  })
  return () => world
}

/** What a response contains up to its end, or to where its connection was cut. */
const textSoFar = async (response: Response): Promise<string> => {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return text
}
