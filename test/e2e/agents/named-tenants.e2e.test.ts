import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { either, World } from '../world.ts'

describe.each(either('sqlite'))('a request with a secret key that names a tenant, on $store', ({ store }) => {
  let world: World
  let api: Api
  let acme: string
  let globex: string
  let agent: string
  let installation: string

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
    acme = (await api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    globex = (await api.post('/v1/tenants', { external_id: 'globex', name: 'Globex' })).body.id
    const config = { model: 'simulated-1', system_prompt: 'Be brief.' }
    agent = (await api.post('/v1/agents', { name: 'Helper', config })).body.id
    await api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config })
    await api.post(`/v1/agents/${agent}/versions/1.0.0/publish`)
    installation = (await api.post('/v1/agent-installations', { tenant_id: acme, agent_id: agent })).body.id
  })
  afterAll(() => world.stop())

  const as = (tenant: string, user?: string) => ({
    headers: { 'x-tenant-id': tenant, ...(user !== undefined && { 'x-external-user-id': user }) },
  })
  const refused = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    return `${status} ${body.error?.code} ${body.error?.param ?? ''}`.trim()
  }

  it('opens sessions of that tenant and user, named in the body or in headers', async () => {
    const wanted = { tenant_id: acme, external_user_id: 'ada', agent_id: null, installation_id: null }
    const byBody = await api.post('/v1/sessions', { tenant_id: acme, external_user_id: 'ada' })
    const byHeaders = await api.post('/v1/sessions', {}, as(acme, 'ada'))
    expect([byBody, byHeaders]).toMatchObject([
      { status: 201, body: wanted },
      { status: 201, body: wanted },
    ])
    const { body } = await api.post('/v1/client-tokens', { tenant_id: acme, external_user_id: 'ada' })
    for (const { body: session } of [byBody, byHeaders]) {
      expect(await world.as(body.token).get(`/v1/sessions/${session.id}`)).toMatchObject({ status: 200, body: wanted })
    }
  })

  it("opens a session in an installation with the installation's agent and tenant", async () => {
    const { status, body } = await api.post('/v1/sessions', { installation_id: installation })
    const wanted = { tenant_id: acme, external_user_id: null, agent_id: agent, installation_id: installation }
    expect({ status, body }).toMatchObject({ status: 201, body: wanted })
    const frames = await (await api.turn(body.id, { input: 'hi' })).all()
    expect(frames.at(-1)?.event).toBe('turn.completed')
    const { body: usage } = await api.get('/v1/usage/events', as(acme))
    expect(usage.data.map((row: { session_id: string }) => row.session_id)).toContain(body.id)
    const { data } = (await api.get('/v1/sessions?limit=100')).body
    expect(data.find(({ id }: { id: string }) => id === body.id)).toMatchObject(wanted)
  })

  it('finds the resources of that tenant and none of another', async () => {
    const mine = await api.createSession({ tenant_id: acme, external_user_id: 'ada' })
    const theirs = await api.createSession({ tenant_id: globex, external_user_id: 'ada' })
    const action = (await api.post('/v1/actions', { tool: 'x', arguments: {}, tenant_id: globex })).body.id
    expect(await refused(api.get(`/v1/sessions/${theirs}`, as(acme)))).toBe('404 not_found session_id')
    expect(await refused(api.post(`/v1/sessions/${mine}/turns`, { input: 'hi' }, as(acme, 'bob')))).toMatch(/^404/)
    expect(await refused(api.post(`/v1/actions/${action}/reject`, {}, as(acme)))).toBe('404 not_found action_id')
    const listed = async (extra: ReturnType<typeof as>) =>
      (await api.get('/v1/sessions?limit=100', extra)).body.data.map(({ id }: { id: string }) => id)
    expect(await listed(as(acme))).toContain(mine)
    expect(await listed(as(acme))).not.toContain(theirs)
    expect(await listed(as(globex))).toEqual([theirs])
    expect((await api.get('/v1/agent-installations', as(globex))).body.data).toEqual([])
    expect((await api.get(`/v1/agents/${agent}`, as(globex))).status).toBe(200)
  })

  it('gets a 404 for an unknown tenant or installation, on every kind of route', async () => {
    const unknown = 'ten_01m7yttzjhsxjpptb3mj7638ba'
    const named = '404 not_found X-Tenant-Id'
    for (const path of ['/v1/sessions', '/v1/agents', '/v1/models', '/v1/usage/events', '/v1/tenants'])
      expect([path, await refused(api.get(path, as(unknown)))]).toEqual([path, named])
    expect(await refused(api.post('/v1/sessions', {}, as(unknown)))).toBe(named)
    expect(await refused(api.post('/v1/sessions', { tenant_id: unknown }))).toBe('404 not_found tenant_id')
    const gone = { installation_id: 'ins_01m7yttzjhsxjpptb3mj7638ba' }
    expect(await refused(api.post('/v1/sessions', gone))).toBe('404 not_found installation_id')
    const others = { installation_id: installation, tenant_id: globex }
    expect(await refused(api.post('/v1/sessions', others))).toBe('404 not_found installation_id')
  })

  it('is refused when headers and body name two tenants; a client token cannot change its tenant', async () => {
    expect(await refused(api.post('/v1/sessions', { tenant_id: globex }, as(acme)))).toBe(
      '400 invalid_header X-Tenant-Id',
    )
    const { body } = await api.post('/v1/client-tokens', { tenant_id: acme, external_user_id: 'ada' })
    const browser = world.as(body.token)
    expect(await refused(browser.post('/v1/sessions', { tenant_id: globex }))).toBe('403 secret_key_required tenant_id')
    expect((await browser.post('/v1/sessions', {}, as(globex))).body.tenant_id).toBe(acme)
  })

  it('reads the sessions of a suspended tenant and cannot create one for it', async () => {
    const tenant = (await api.post('/v1/tenants', { external_id: 'late', name: 'Late' })).body.id
    const session = await api.createSession({ tenant_id: tenant })
    await api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, { method: 'PATCH' })
    expect((await api.get(`/v1/sessions/${session}`, as(tenant))).status).toBe(200)
    expect(await refused(api.post('/v1/sessions', {}, as(tenant)))).toMatch(/tenant_suspended/)
    expect(await refused(api.post('/v1/sessions', { tenant_id: tenant }))).toMatch(/tenant_suspended/)
  })

  it('changes no knowledge of a suspended tenant, also where the request does not name the tenant', async () => {
    const tenant = (await api.post('/v1/tenants', { external_id: 'paused', name: 'Paused' })).body.id
    const base = (await api.post('/v1/knowledge-bases', { name: 'Handbook', tenant_id: tenant })).body.id
    const store = base.replace('kb_', 'vs_')
    const form = '--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nassistants\r\n'
    const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nOtters.\r\n--x--\r\n'
    const sent = await api.upload('/v1/files', Buffer.from(form + part), 'multipart/form-data; boundary=x')
    const file = JSON.parse(await sent.text()).id
    const patch = { method: 'PATCH' }
    await api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, patch)
    const grant = { subject_type: 'agent', subject_id: agent, permissions: ['read'] }
    const questions = [{ question: 'Who keeps bees?', text: 'Ada' }]
    const answers = [
      api.post(`/v1/knowledge-bases/${base}`, { name: 'Other' }, patch),
      api.post(`/v1/knowledge-bases/${base}/sources`, { text: 'Otters hold hands.' }),
      api.post(`/v1/knowledge-bases/${base}/grants`, grant),
      api.post(`/v1/knowledge-bases/${base}/recall-sets`, { name: 'Bees', questions }),
      api.post(`/v1/vector_stores/${store}`, { name: 'Other' }),
      api.post(`/v1/vector_stores/${store}/files`, { file_id: file }),
      api.post(`/v1/vector_stores/${store}/file_batches`, { file_ids: [file] }),
    ]
    for (const answer of answers) expect(await refused(answer)).toMatch(/^403 tenant_suspended/)
    const kept = await api.get(`/v1/knowledge-bases/${base}`)
    const sources = await api.get(`/v1/knowledge-bases/${base}/sources`)
    expect([kept.body.name, sources.body.data]).toEqual(['Handbook', []])
  })

  it('changes no record of a suspended tenant by its id, and grants nothing to it', async () => {
    const tenant = (await api.post('/v1/tenants', { external_id: 'still', name: 'Still' })).body.id
    const bees = { userId: 'ada', content: 'Ada keeps bees.' }
    const memory = (await api.post('/v1/memory/write', bees, as(tenant))).body.id
    const conversation = (await api.post('/v1/conversations', { metadata: { a: '1' } }, as(tenant))).body.id
    const shared = (await api.post('/v1/knowledge-bases', { name: 'Shared' })).body.id
    const patch = { method: 'PATCH' }
    await api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, patch)
    const grant = { subject_type: 'tenant', subject_id: tenant, permissions: ['read'] }
    const answers = [
      api.post(`/v1/memory/${memory}`, { importance: 1 }, patch),
      api.post(`/v1/conversations/${conversation}`, { metadata: { a: '2' } }),
      api.post(`/v1/conversations/${conversation}/items`, { items: [{ role: 'user', content: 'Hi' }] }),
      api.post(`/v1/knowledge-bases/${shared}/grants`, grant),
    ]
    for (const answer of answers) expect(await refused(answer)).toMatch(/tenant_suspended/)
    expect((await api.get(`/v1/conversations/${conversation}`)).body.metadata).toEqual({ a: '1' })
    expect((await api.get(`/v1/memory/${memory}`)).status).toBe(200)
    expect((await api.get(`/v1/knowledge-bases/${shared}/grants`)).body.data).toEqual([])
  })

  it('exports and forgets the memories of a suspended tenant', async () => {
    const tenant = (await api.post('/v1/tenants', { external_id: 'leaving', name: 'Leaving' })).body.id
    const bees = { userId: 'ada', content: 'Ada keeps bees.' }
    await api.post('/v1/memory/write', bees, as(tenant))
    await api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, { method: 'PATCH' })
    const user = { userId: 'ada' }
    const exported = await api.post('/v1/memory/export', user, as(tenant))
    expect(exported).toMatchObject({ status: 200, body: { memories: [{ content: bees.content }] } })
    expect((await api.post('/v1/memory/forget', user, as(tenant))).body).toMatchObject({ forgotten: 1 })
    expect(await refused(api.post('/v1/memory/write', bees, as(tenant)))).toMatch(/^403 tenant_suspended/)
  })

  it('lets an operator lower the limit of a suspended tenant', async () => {
    const tenant = (await api.post('/v1/tenants', { external_id: 'frugal', name: 'Frugal' })).body.id
    const limit = (budget_total_usd: string) =>
      api.post('/v1/limits', { subject: 'tenant', subject_id: tenant, budget_total_usd })
    const first = await limit('10')
    expect(first.status).toBe(201)
    await api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, { method: 'PATCH' })
    expect((await limit('1')).status).toBeLessThan(300)
    expect((await api.get(`/v1/limits/${first.body.id}`)).body).toMatchObject({ budget_total_usd: '1' })
  })
})
