import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

describe('an agent version whose prerequisites are missing', () => {
  let world: World
  let api: Api
  let agent: string
  const unused = { host: '127.0.0.1:9' }

  beforeAll(async () => {
    world = await World.start({ tools: [unused] })
    api = world.api
    agent = (await api.post('/v1/agents', { name: 'Helper', config: { model: 'simulated-1' } })).body.id
  })
  afterAll(() => world.stop())

  const missing = {
    knowledge: ['kb_01m7yttzjhsxjpptb3mj7638ba'],
    skills: ['refunds'],
    mcp_servers: ['mcp_01m7yttzjhsxjpptb3mj7638ba'],
    subagents: ['agt_01m7yttzjhsxjpptb3mj7638ba'],
  }
  const places = ['config.subagents[0]', 'config.mcp_servers[0]', 'config.skills[0]', 'config.knowledge[0]']
  const draft = async (version: string, config: object = missing): Promise<string> => {
    const given = { version, config: { model: 'simulated-1', system_prompt: 'Be brief.', ...config } }
    const { status, body } = await api.post(`/v1/agents/${agent}/versions`, given)
    expect(status, JSON.stringify(body)).toBe(201)
    return `/v1/agents/${agent}/versions/${version}`
  }
  const refused = async (answer: ReturnType<Api['post']>) => {
    const { status, body } = await answer
    expect([status, body.error?.code]).toEqual([422, 'prerequisites_missing'])
    return body.error
  }

  it.each(['submit', 'publish'])('is refused by %s, which names each missing one by its path', async (verb) => {
    const path = await draft(verb === 'submit' ? '1.0.0' : '1.0.1')
    const error = await refused(api.post(`${path}/${verb}`))
    expect(places).toContain(error.param)
    for (const place of places) expect(error.message).toContain(`${place}: There is no `)
    expect((await api.get(path)).body.status).toBe('draft')
  })

  it('is published once it has no missing ones, and cannot be submitted after that', async () => {
    const path = await draft('1.1.0', {})
    expect((await api.post(`${path}/submit`)).body).toMatchObject({ status: 'in_review' })
    expect((await api.post(`${path}/review`, { decision: 'approve' })).body).toMatchObject({ status: 'published' })
    expect(await api.post(`${path}/submit`)).toMatchObject({
      status: 409,
      body: { error: { code: 'invalid_transition' } },
    })
  })

  it('is not installed or upgraded to with overlays that name an unknown model', async () => {
    const path = await draft('2.0.0', {})
    await api.post(`${path}/publish`)
    const tenant_id = (await api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const install = { tenant_id, agent_id: agent, version: '2.0.0' }
    const error = await refused(
      api.post('/v1/agent-installations', { ...install, overlays: { model: 'no-such-model' } }),
    )
    expect(error.param).toBe('config.model')
    expect((await api.get(`/v1/agent-installations?tenant_id=${tenant_id}`)).body.data).toEqual([])
    const { status, body } = await api.post('/v1/agent-installations', { ...install, version: '1.1.0' })
    expect(status).toBe(201)
    const change = (changes: object) => api.post(`/v1/agent-installations/${body.id}`, changes, { method: 'PATCH' })
    await refused(change({ overlays: { model: 'no-such-model' } }))
    const own = { name: 'Ours', provider: 'ours', base_url: `http://${unused.host}/v1`, api_key: 'a-key' }
    const { id } = (await api.post('/v1/provider-connections', own)).body
    expect((await change({ overlays: { model: 'ours/m' } })).status).toBe(200)
    await api.post(`/v1/provider-connections/${id}`, undefined, { method: 'DELETE' })
    await refused(api.post(`/v1/agent-installations/${body.id}/upgrade`, { version: '2.0.0' }))
    expect((await api.get(`/v1/agent-installations/${body.id}`)).body.version).toBe('1.1.0')
  })
})
