import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openUpstream, refusal, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { goodAnswer } from '#test/gateway/chat/chat-world.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

const completion: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(goodAnswer))
}

describe('a request that names a provider of the project, beside a server of the operator that takes every id', () => {
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

  it('is served by it or fails, whether it fails, is switched off, renamed or deleted', async () => {
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
    // what names no provider of the project is the operator's server's as before
    expect(await chat('meta-llama/llama-4')).toMatchObject({ status: 200 })
    expect(operators.received).toHaveLength(1)
  })
})
