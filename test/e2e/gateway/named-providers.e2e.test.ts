import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openUpstream, refusal, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { goodAnswer, goodStream } from '#test/gateway/chat/chat-world.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

const completion: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(goodAnswer))
}

/** The provider, the billing mode and the connection of an answer. */
const paidBy = (headers: Headers) =>
  ['x-provider', 'x-billing-mode', 'x-provider-connection'].map((name) => headers.get(name))

describe("a request that names a provider of the project, when the operator's server accepts every model id", () => {
  let own: Upstream
  let operators: Upstream
  let world: World
  let dashboard: Api
  let path: string

  beforeAll(async () => {
    own = await openUpstream()
    operators = await openUpstream()
    world = await World.start({
      tools: [{ host: new URL(own.url).host }],
      env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: operators.url },
    })
    dashboard = await world.dashboard()
    path = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/providers`
    operators.script(completion)
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await own.close()
    await operators.close()
  })

  const chat = (model: string) =>
    world.api.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] })

  it('fails when that provider fails, is switched off, renamed or deleted', async () => {
    const given = { name: 'Acme', baseUrl: `${own.url}/v1`, format: 'openai', apiKey: 'sk-own' }
    const { id } = (await dashboard.post(path, { ...given, models: [{ name: 'One', modelId: 'm1' }] })).body.provider
    const change = (body: object) => dashboard.post(`${path}/${id}`, body, { method: 'PATCH' })
    own.script(completion)
    expect(await chat('Acme/m1')).toMatchObject({ status: 200 })
    own.script(refusal(401, { message: 'No.' }))
    expect((await chat('Acme/m1')).status).toBe(502)
    const refused = { status: 502, body: { error: { code: 'provider_not_active', type: 'provider_error' } } }
    await change({ isActive: false })
    for (const model of ['acme/m1', 'Acme', `custom:${id}/m1`]) expect(await chat(model), model).toMatchObject(refused)
    await change({ isActive: true, name: 'Other' })
    expect(await chat('acme/m1')).toMatchObject(refused)
    await dashboard.get(`${path}/${id}`, { method: 'DELETE' })
    for (const model of ['acme/m1', 'other/m1', `custom:${id}`]) expect(await chat(model), model).toMatchObject(refused)
    expect(operators.received).toHaveLength(0)
    const { data } = (await world.api.get('/v1/usage/events')).body
    expect(data.map((row: { readonly billing_mode: string }) => row.billing_mode)).toEqual(['custom'])
    // a request that names no provider of the project goes to the operator's server
    expect(await chat('meta-llama/llama-4')).toMatchObject({ status: 200 })
    expect(operators.received).toHaveLength(1)
  })

  it("is not charged to the operator when the project's key is refused, unless the connection allows it", async () => {
    const given = { name: 'Ours', provider: 'openai', base_url: `${own.url}/v1`, api_key: 'sk-own' }
    const { id } = (await world.api.post('/v1/provider-connections', given)).body
    own.script(refusal(401, { message: 'Incorrect API key provided: sk-own' }))
    operators.script(completion)
    const refused = await chat('gpt-4o-mini')
    expect([refused.status, refused.body.error.code]).toEqual([502, 'provider_error'])
    expect(operators.received).toHaveLength(0)
    expect(paidBy(refused.headers)).toEqual(['openai', 'byok', id])
    const change = { fallback_to_managed: true }
    const changed = await world.api.post(`/v1/provider-connections/${id}`, change, { method: 'PATCH' })
    expect(changed.body).toMatchObject({ id, fallback_to_managed: true })
    const served = await chat('gpt-4o-mini')
    expect([served.status, ...paidBy(served.headers)]).toEqual([200, 'openai', 'managed', null])
    expect(operators.received).toHaveLength(1)
  })

  it('is not sent to another server with the key that was set for this one: each family says so in its own way', async () => {
    const elsewhere = 'https://models.example.com/v1'
    const patch = { method: 'PATCH' }
    const server = { name: 'Moves', baseUrl: `${own.url}/v1`, format: 'openai', apiKey: 'sk-own' }
    const custom = (await dashboard.post(path, server)).body.provider
    const requires = expect.stringMatching(/^A new baseUrl requires apiKey: /)
    const refused = await dashboard.post(`${path}/${custom.id}`, { baseUrl: elsewhere }, patch)
    expect([refused.status, refused.body]).toEqual([400, { error: requires }])
    const given = { name: 'Moves too', provider: 'moves', base_url: `${own.url}/v1`, api_key: 'sk-own' }
    const connection = (await world.api.post('/v1/provider-connections', given)).body
    const at = `/v1/provider-connections/${connection.id}`
    expect(await world.api.post(at, { base_url: elsewhere }, patch)).toMatchObject({
      status: 422,
      body: { error: { code: 'missing_field', param: 'api_key' } },
    })
    const kept = [(await dashboard.get(`${path}/${custom.id}`)).body.provider, (await world.api.get(at)).body]
    expect(kept.map(({ base_url }) => base_url)).toEqual([`${own.url}/v1`, `${own.url}/v1`])
    await dashboard.get(`${path}/${custom.id}`, { method: 'DELETE' })
    await world.api.get(at, { method: 'DELETE' })
  })

  it('reports the billing mode and the connection in the answers of every API', async () => {
    const { data } = (await world.api.get('/v1/provider-connections')).body
    const { id } = data[0]
    const vectors = {
      object: 'list',
      model: 'm',
      data: [{ index: 0, embedding: [1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }
    const answers: Answer = (response, { path, body }) => {
      if (path.endsWith('/embeddings')) response.end(JSON.stringify(vectors))
      else if (path.endsWith('/speech')) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3')
      else if (body.stream === true) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(goodStream)
      else response.end(JSON.stringify(goodAnswer))
    }
    own.script(answers)
    const model = 'gpt-4o-mini'
    const messages = [{ role: 'user', content: 'Hi' }]
    const requests: readonly (readonly [path: string, body: object])[] = [
      ['/v1/chat/completions', { model, messages }],
      ['/v1/chat/completions', { model, messages, stream: true }],
      ['/api/ai/chat', { model, messages }],
      ['/api/ai/chat', { model, messages, stream: true }],
      ['/v1/responses', { model, input: 'Hi' }],
      ['/v1/responses', { model, input: 'Hi', stream: true }],
      ['/v1/messages', { model, messages, max_tokens: 9 }],
      ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
      ['/v1/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'alloy' }],
    ]
    for (const [path, body] of requests) {
      const answer = await world.api.fetch(path, body)
      await answer.text()
      expect([answer.status, ...paidBy(answer.headers)], path).toEqual([200, 'openai', 'byok', id])
    }
  })
})
