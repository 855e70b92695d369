import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from './api.ts'
import { either, World } from './world.ts'

describe.each(either('sqlite'))('agents on $store', ({ store }) => {
  let world: World
  let api: Api

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
  })
  afterAll(() => world.stop())

  const ok = async (answer: ReturnType<Api['get']>, status = 200) => {
    const { status: given, body } = await answer
    expect(given, JSON.stringify(body)).toBe(status)
    return body
  }
  const refused = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    return `${status} ${body.error?.code} ${body.error?.param ?? ''}`.trim()
  }

  const config = { model: 'simulated-1', system_prompt: 'Be brief.' }
  const newAgent = async () => (await ok(api.post('/v1/agents', { name: 'Helper', config }))).id
  const newTenant = async (name: string) => (await ok(api.post('/v1/tenants', { external_id: name, name }), 201)).id
  const publish = async (agent: string, version: string, visibility = 'public') => {
    await ok(api.post(`/v1/agents/${agent}/versions`, { version, config, visibility }), 201)
    return ok(api.post(`/v1/agents/${agent}/versions/${version}/publish`))
  }

  it('go through draft, test, review, publication, installation, upgrade, rollback, retirement and deletion', async () => {
    const agent = await newAgent()
    const one = `/v1/agents/${agent}/versions/1.0.0`
    const draft = await ok(
      api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config, visibility: 'public' }),
      201,
    )
    expect(draft).toMatchObject({ agent_id: agent, version: '1.0.0', status: 'draft', requirements: {}, test: null })
    expect(await refused(api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config }))).toBe(
      '409 already_exists version',
    )
    expect(await ok(api.post(`${one}/validate`))).toEqual({ valid: true, findings: [] })
    const tested = await ok(api.post(`${one}/test`, { input: 'Hello?' }))
    expect(tested).toMatchObject({ status: 'draft', test: { passed: true, input: 'Hello?', error: null } })
    expect(tested.test.output.length).toBeGreaterThan(0)
    expect(await ok(api.post(`${one}/submit`))).toMatchObject({ status: 'in_review' })
    expect(await ok(api.post(`${one}/review`, { decision: 'reject', reason: 'Too brief.' }))).toMatchObject({
      status: 'draft',
      review: { decision: 'reject', reason: 'Too brief.' },
    })
    await ok(api.post(`${one}/submit`))
    const published = await ok(api.post(`${one}/review`, { decision: 'approve' }))
    expect(published).toMatchObject({ status: 'published', config })
    expect(await ok(api.get(one))).toEqual(published)
    const { data } = await ok(api.get('/v1/agent-catalog?limit=100'))
    expect(data.filter((entry: { agent_id: string }) => entry.agent_id === agent)).toMatchObject([
      { name: 'Helper', version: '1.0.0', agent_version_id: draft.id, visibility: 'public' },
    ])

    const tenant = await newTenant('acme')
    const installed = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }), 201)
    expect(installed).toMatchObject({ version: '1.0.0', status: 'active', tenant_id: tenant })
    const there = `/v1/agent-installations/${installed.id}`
    await publish(agent, '1.1.0')
    expect(await ok(api.post(`${there}/upgrade`))).toMatchObject({ version: '1.1.0', previous_version: '1.0.0' })
    expect(await ok(api.post(`${there}/rollback`))).toMatchObject({ version: '1.0.0', previous_version: null })
    expect(await refused(api.post(`${there}/rollback`))).toBe('409 invalid_transition')
    expect(await refused(api.get(`/v1/agents/${agent}`, { method: 'DELETE' }))).toBe('409 agent_in_use')
    const policy = { default: 'require', tools: { refund: 'deny' } }
    const overlays = { system_prompt_append: 'Say you.' }
    expect(await ok(api.post(there, { approval_policy: policy, overlays }, { method: 'PATCH' }))).toMatchObject({
      approval_policy: policy,
      overlays,
    })
    expect(await ok(api.get(there, { method: 'DELETE' }))).toMatchObject({ status: 'disabled' })

    expect(await ok(api.post(`${one}/deprecate`))).toMatchObject({ status: 'deprecated' })
    expect(await ok(api.post(`${one}/retire`))).toMatchObject({ status: 'retired' })
    expect(await refused(api.post(`${one}/publish`))).toBe('409 invalid_transition')
    expect(await ok(api.get(`/v1/agents/${agent}`, { method: 'DELETE' }))).toEqual({ id: agent, deleted: true })
    expect(await refused(api.get(one))).toBe('404 not_found version')
    expect(await refused(api.get(`/v1/agents/${agent}/versions`))).toBe('404 not_found agent_id')
  })

  it('accept one of several concurrent publications or drafts of a version, and upgrade to it once', async () => {
    const agent = await newAgent()
    const tenant = await newTenant('busy')
    await publish(agent, '1.0.0')
    const { id } = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }), 201)
    await ok(api.post(`/v1/agents/${agent}/versions`, { version: '2.0.0', config }), 201)
    const many = Array.from({ length: 8 })
    const published = await Promise.all(
      many.map(async () => (await api.post(`/v1/agents/${agent}/versions/2.0.0/publish`)).status),
    )
    expect(published.sort()).toEqual([200, ...Array(7).fill(409)])
    const upgraded = await Promise.all(many.map(() => ok(api.post(`/v1/agent-installations/${id}/upgrade`))))
    expect(new Set(upgraded.map(({ version }) => version))).toEqual(new Set(['2.0.0']))
    expect(await ok(api.post(`/v1/agent-installations/${id}/rollback`))).toMatchObject({
      version: '1.0.0',
      previous_version: null,
    })
    const drafted = await Promise.all(
      many.map(async () => (await api.post(`/v1/agents/${agent}/versions`, { version: '3.0.0', config })).status),
    )
    expect(drafted.sort()).toEqual([201, ...Array(7).fill(409)])
  })

  it('are installed and rolled back once per Idempotency-Key', async () => {
    const agent = await newAgent()
    const tenant = await newTenant('careful')
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publish(agent, version)
    const body = { tenant_id: tenant, agent_id: agent, version: '1.0.0' }
    const key = (name: string) => ({ headers: { 'idempotency-key': `${store}-${name}` } })
    const made = await Promise.all(
      [1, 2, 3].map(async () => (await ok(api.post('/v1/agent-installations', body, key('make')), 201)).id),
    )
    expect(new Set(made).size).toBe(1)
    const there = `/v1/agent-installations/${made[0]}`
    for (const version of ['1.1.0', '1.2.0']) await ok(api.post(`${there}/upgrade`, { version }))
    const back = await ok(api.post(`${there}/rollback`, undefined, key('back')))
    expect(back).toMatchObject({ version: '1.1.0' })
    expect(await ok(api.post(`${there}/rollback`, undefined, key('back')))).toEqual(back)
  })

  it('keep published versions and installations after kill -9', async () => {
    const agent = await newAgent()
    const tenant = await newTenant('lasting')
    await publish(agent, '1.0.0')
    const { id } = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }), 201)
    await publish(agent, '1.1.0')
    await world.crash()
    await world.restart()
    expect(await ok(api.get(`/v1/agents/${agent}/versions/1.1.0`))).toMatchObject({ status: 'published' })
    expect(await ok(api.post(`/v1/agent-installations/${id}/upgrade`))).toMatchObject({ version: '1.1.0' })
    const { data } = await ok(api.get(`/v1/agents/${agent}/versions`))
    expect(data.map(({ version, status }: { version: string; status: string }) => `${version} ${status}`)).toEqual([
      '1.1.0 published',
      '1.0.0 published',
    ])
  })

  it('accept their own secret keys, and their public keys only from the allowed domains', async () => {
    const [agent, other] = [await newAgent(), await newAgent()]
    const { id, key } = await ok(api.post(`/v1/agents/${agent}/keys`, { name: 'server' }))
    const mine = world.as(key)
    const session = await ok(mine.post('/v1/sessions', {}), 201)
    expect(session.agent_id).toBe(agent)
    const stream = await mine.turn(session.id, { input: 'Hello' })
    expect((await stream.all()).at(-1)?.event).toBe('turn.completed')
    expect(await refused(mine.post('/v1/sessions', { agent_id: other }))).toBe('404 not_found agent_id')
    const foreign = await api.createSession({ agent_id: other })
    expect(await refused(mine.get(`/v1/sessions/${foreign}`))).toBe('404 not_found session_id')
    expect(await refused(mine.get('/v1/agents'))).toBe('403 forbidden')
    expect(await refused(mine.get(`/v1/sessions/${session.id}/events`))).toBe('403 secret_key_required')

    const browser = await ok(
      api.post(`/v1/agents/${agent}/keys`, { name: 'page', key_type: 'public', allowed_domains: ['*.app.example'] }),
    )
    const page = world.as(browser.key)
    const at = (origin: string) => ({ headers: { origin } })
    expect(await refused(page.post('/v1/sessions', {}))).toBe('403 origin_not_allowed')
    expect(await refused(page.post('/v1/sessions', {}, at('https://evil.example')))).toBe('403 origin_not_allowed')
    const opened = await page.post('/v1/sessions', {}, at('https://www.app.example'))
    expect(opened.status).toBe(201)
    expect(opened.headers.get('access-control-allow-origin')).toBe('https://www.app.example')
    expect(await refused(page.get('/v1/sessions', at('https://www.app.example')))).toBe('403 forbidden')

    expect(await ok(api.get(`/v1/agents/${agent}/keys/${id}`, { method: 'DELETE' }))).toMatchObject({ id })
    expect(await refused(mine.get(`/v1/sessions/${session.id}`))).toBe('401 authentication_required')
  })

  it('limit their public and secret keys to the models of the agent', async () => {
    const agent = await newAgent()
    const { key } = await ok(api.post(`/v1/agents/${agent}/keys`, { name: 'page', key_type: 'public' }))
    const page = world.as(key)
    const messages = [{ role: 'user', content: 'Hello' }]
    const chat = (body: object, path = '/v1/chat/completions') => page.post(path, { messages, ...body })
    expect((await chat({ model: 'simulated-1' })).status).toBe(200)
    expect((await chat({ model: 'simulated-1' }, '/api/ai/chat')).status).toBe(200)
    expect(await refused(chat({ model: 'gpt-4o' }))).toBe('403 secret_key_required model')
    expect(await refused(chat({ model: 'simulated-1', models: ['simulated-1', 'gpt-4o'] }))).toBe(
      '403 secret_key_required models[1]',
    )
    expect((await chat({ model: 'gpt-4o' }, '/api/ai/chat')).status).toBe(403)
    const { data } = await ok(page.get('/v1/models'))
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['simulated-1'])
    expect((await page.get('/v1/models/gpt-4o')).status).toBe(404)
    const secret = await ok(api.post(`/v1/agents/${agent}/keys`, { name: 'server' }))
    const { body: ofServer } = await world.as(secret.key).get('/v1/models')
    expect(ofServer.data.map(({ id }: { id: string }) => id)).toEqual(['simulated-1'])
  })

  it('list the sessions of a client token, and of no other installation than those that it names', async () => {
    const tenant = await newTenant('listing')
    const sessions: string[] = []
    const installed = async () => {
      const agent = await newAgent()
      await publish(agent, '1.0.0')
      return (await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }), 201)).id
    }
    const [one, two, three] = [await installed(), await installed(), await installed()]
    const owner = { tenant_id: tenant, external_user_id: 'ada' }
    for (const installation_id of [one, two, three, one, two, three]) {
      sessions.unshift((await ok(api.post('/v1/sessions', { ...owner, installation_id }), 201)).id)
    }
    const listOf = async (installation_ids: readonly string[], query = '') => {
      const { token } = await ok(api.post('/v1/client-tokens', { ...owner, installation_ids }), 201)
      const { data, pagination } = await ok(world.as(token).get(`/v1/sessions${query}`))
      return { ids: data.map(({ id }: { id: string }) => sessions.indexOf(id)), pagination }
    }
    expect(await listOf([two])).toMatchObject({ ids: [1, 4], pagination: { total: 2 } })
    expect(await listOf([one, three])).toMatchObject({ ids: [0, 2, 3, 5], pagination: { total: 4, has_more: false } })
    expect(await listOf([one, three], '?page=2&limit=3')).toMatchObject({ ids: [5], pagination: { total_pages: 2 } })
    expect(await listOf([one, three], '?limit=2')).toMatchObject({ ids: [0, 2], pagination: { has_more: true } })
    expect(await listOf([one, three], `?starting_after=${sessions[2]}`)).toMatchObject({ ids: [3, 5] })
    expect(await listOf([one, three], `?installation_id=${two}`)).toMatchObject({ ids: [], pagination: { total: 0 } })
    expect(await listOf([one, three], `?installation_id=${three}&status=active`)).toMatchObject({ ids: [0, 3] })
  })

  it("run in a tenant's browser by a client token that names an active installation", async () => {
    const agent = await newAgent()
    const tenant = await newTenant('browsing')
    await publish(agent, '1.0.0')
    const { id } = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }), 201)
    const grant = { tenant_id: tenant, external_user_id: 'ada', installation_ids: [id] }
    const { token } = await ok(api.post('/v1/client-tokens', grant), 201)
    const session = await ok(world.as(token).post('/v1/sessions', {}), 201)
    expect(session.agent_id).toBe(agent)
    const stream = await world.as(token).turn(session.id, { input: 'Hello' })
    expect((await stream.all()).at(-1)?.event).toBe('turn.completed')
    const unknown = { ...grant, installation_ids: ['ins_nobody'] }
    expect(await refused(api.post('/v1/client-tokens', unknown))).toBe('404 not_found installation_ids[0]')
    const none = { ...grant, installation_ids: [] }
    expect(await refused(api.post('/v1/client-tokens', none))).toBe('422 invalid_field installation_ids')
    await ok(api.get(`/v1/agent-installations/${id}`, { method: 'DELETE' }))
    const denied = async () =>
      (await world.as(token).fetch(`/v1/sessions/${session.id}/turns`, { input: 'Hello' })).status
    // the session refuses at once, and the token within a quarter of a second
    expect([403, 409]).toContain(await denied())
    await expect.poll(denied).toBe(403)
  })
})
