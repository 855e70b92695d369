import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openAi } from '#test/gateway/call/wire-samples.ts'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

const messages = [
  { role: 'system', content: 'Answer in {{language}}.' },
  { role: 'user', content: 'My city is {{city}}.' },
]

describe('a stored prompt', () => {
  let provider: ModelServer
  let world: World
  let api: Api
  let openai: OpenAI
  let id: string

  beforeAll(async () => {
    provider = await openModelServer((response, { method }) => {
      if (method === 'GET') return response.end(JSON.stringify({ data: [] }))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(openAi.text)
    })
    const env = { OPENAI_API_KEY: 'sk-of-the-house', OPENAI_BASE_URL: `${provider.url}/v1` }
    world = await World.start({ tools: [provider], env })
    api = world.api
    openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    id = (await api.post('/v1/prompts', { name: 'greeting' })).body.id
    const first = {
      messages,
      variables: { language: 'Latin' },
      model: 'small-1',
      temperature: 0.3,
      max_output_tokens: 77,
    }
    expect((await version(first)).body).toMatchObject({ version: '1', ...first })
  })
  afterAll(async () => {
    await world.stop()
    await provider.close()
  })

  const version = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    api.post(`/v1/prompts/${id}/versions`, body, { headers })
  const remove = (path: string) => api.get(path, { method: 'DELETE' })
  const sent = () => JSON.parse(provider.received.findLast(({ method }) => method === 'POST')?.body ?? '{}')
  const inLatin = { role: 'system', content: 'Answer in Latin.' }
  const ofOslo = { role: 'user', content: 'My city is Oslo.' }

  it('precedes the input of a response, and sets what the request leaves out', async () => {
    const response = await openai.responses.create({
      ...{ prompt: { id, variables: { city: 'Oslo' } }, input: 'Hi', instructions: 'Be short.' },
    })
    expect(sent()).toMatchObject({
      ...{ model: 'small-1', temperature: 0.3 },
      messages: [{ role: 'system', content: 'Be short.' }, inLatin, ofOslo, { role: 'user', content: 'Hi' }],
    })
    expect(response.prompt).toEqual({ id, version: '1', variables: { city: 'Oslo' } })
    expect(response).toMatchObject({ instructions: 'Be short.', max_output_tokens: 77 })
    const next = await openai.responses.create({ model: 'small-2', previous_response_id: response.id, input: 'And?' })
    expect(sent()).toMatchObject({ model: 'small-2', messages: [{ content: 'Hi' }, { role: 'assistant' }, {}] })
    expect(next.prompt).toBeNull()
  })

  it('precedes the messages of a chat, in streams too', async () => {
    const body = { model: 'small-2', messages: [{ role: 'user', content: 'Hi' }], temperature: 1, stream: true }
    const prompt = { id, version: '1', variables: { city: 'Oslo', language: 'Norse' } }
    const stream = await api.fetch('/v1/chat/completions', { ...body, prompt })
    expect(await stream.text()).toContain('[DONE]')
    const all = [{ role: 'system', content: 'Answer in Norse.' }, ofOslo, ...body.messages]
    expect(sent()).toMatchObject({ model: 'small-2', temperature: 1, max_completion_tokens: 77, messages: all })
    expect(sent()).not.toHaveProperty('prompt')
  })

  it('gives its instructions to an agent, which is refused once the prompt is gone', async () => {
    const other = (await api.post('/v1/prompts', { name: 'of an agent' })).body.id
    await api.post(`/v1/prompts/${other}/versions`, { messages })
    const prompts = [{ id: other, variables: { language: 'Greek', city: 'Rome' } }]
    const config = { model: 'small-1', system_prompt: 'You help.', prompts }
    const agent = (await api.post('/v1/agents', { name: 'Greek', config })).body.id
    const session = await api.createSession({ agent_id: agent })
    expect(await (await api.turn(session, { input: 'Hi' })).until(endsTurn)).toMatchObject({ event: 'turn.completed' })
    expect(sent().messages).toMatchObject([{ content: 'You help.\n\nAnswer in Greek.' }, { content: 'Hi' }])
    expect(await remove(`/v1/prompts/${other}`)).toMatchObject({ status: 200, body: { deleted: true } })
    const refusal = { error: { code: 'agent_not_runnable', param: 'config.prompts' } }
    // a node keeps the config of an agent for a second
    const refused = () => api.post(`/v1/sessions/${session}/turns`, { input: 'Hi' })
    await vi.waitFor(async () => expect((await refused()).body).toMatchObject(refusal), patience)
  })

  it('is used in its default version, otherwise the newest', async () => {
    const filled = { id, variables: { city: 'Oslo' } }
    const key = { 'idempotency-key': 'second' }
    const second = { messages: [{ role: 'user', content: 'New {{city}}' }], model: 'small-3', description: 'Short' }
    expect((await version(second, key)).body).toMatchObject({ version: '2', description: 'Short' })
    expect((await version(second, key)).body.version).toBe('2')
    expect((await openai.responses.create({ prompt: filled })).prompt?.version).toBe('2')
    expect(sent()).toMatchObject({ model: 'small-3', messages: [{ role: 'user', content: 'New Oslo' }] })
    expect(
      (await api.post(`/v1/prompts/${id}`, { default_version: '1' }, { method: 'PATCH' })).body.latest_version,
    ).toBe('2')
    expect((await openai.responses.create({ prompt: filled, background: true })).prompt?.version).toBe('1')
    const shown = { id, name: 'greeting', default_version: '1', latest_version: '2' }
    expect((await api.get(`/v1/prompts/${id}`)).body).toMatchObject(shown)
    expect((await api.get('/v1/prompts')).body.data).toMatchObject([shown])
    expect((await api.get(`/v1/prompts/${id}/versions/2`)).body).toMatchObject({ prompt_id: id, ...second })
    const of = (path: string) => remove(`/v1/prompts/${id}/versions/${path}`)
    expect((await of('1')).body.error).toMatchObject({ code: 'bad_request', param: 'prompt_version' })
    expect((await of('2')).status).toBe(200)
    expect((await version(second)).body.version).toBe('3')
    expect((await api.get(`/v1/prompts/${id}/versions`)).body.data.map(Object)).toMatchObject([
      { version: '3' },
      { version: '1' },
    ])
  })

  it.each([
    ['an unknown prompt', { id: 'pmpt_0' }, 'not_found', 'prompt.id'],
    ['an unknown version', { version: '9' }, 'not_found', 'prompt.version'],
    ['a missing value', {}, 'missing_field', 'prompt.variables.city'],
    ['a value for no variable', { variables: { city: 'a', town: 'b' } }, 'invalid_field', 'prompt.variables.town'],
  ])('is refused with %s', async (_what, part, code, param) => {
    const body = { model: 'small-1', prompt: { id, version: '1', ...part }, input: 'Hi' }
    expect((await api.post('/v1/responses', body)).body.error).toMatchObject({ code, param })
  })

  it('is reached by no key of an agent, whose models it could change', async () => {
    const agent = (await api.post('/v1/agents', { name: 'Small', config: { model: 'small-1' } })).body.id
    const { key } = (await api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type: 'secret' })).body
    const body = { model: 'small-1', prompt: { id, variables: { city: 'a' } }, input: 'Hi' }
    const refused = await world.as(key).post('/v1/responses', body)
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'secret_key_required', param: 'prompt' } } })
  })
})
