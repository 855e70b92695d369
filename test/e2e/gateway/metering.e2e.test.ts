import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../patience.ts'
import { either, type StoreName, World } from '../world.ts'

const chat = {
  model: 'simulated-1',
  messages: [{ role: 'user', content: 'My mail is ada@example.com' }],
  max_tokens: 20,
}

describe.each(either('sqlite'))('metering of the gateway on $store', ({ store }: { readonly store: StoreName }) => {
  let world: World
  let tenant: string

  beforeAll(async () => {
    world = await World.start({ store })
    tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
  }, 120_000)
  afterAll(() => world.stop())

  const say = (headers: Readonly<Record<string, string>> = {}) =>
    world.api.post('/v1/chat/completions', chat, { headers })

  it('writes a usage row and a log entry for the tenant in the header, without personal data', async () => {
    const headers = { 'x-tenant-id': tenant, 'x-external-user-id': 'ada', 'x-request-id': 'metered-request-1' }
    const answer = await say(headers)
    expect(answer.status).toBe(200)
    const { data } = (await world.api.get(`/v1/usage/events?tenant_id=${tenant}`)).body
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      tenant_id: tenant,
      external_user_id: 'ada',
      operation: 'chat',
      provider: 'simulated',
      billing_mode: 'simulated',
      input_tokens: answer.body.usage.prompt_tokens,
      output_tokens: answer.body.usage.completion_tokens,
      request_id: 'metered-request-1',
    })
    const entry = (await world.api.get('/v1/request-log/metered-request-1')).body
    expect(entry).toMatchObject({
      tenant_id: tenant,
      operation: 'chat_completions.create',
      status: 200,
      error: null,
      bodies: 'kept',
      cost_usd: data[0].provider_cost_usd,
    })
    expect(entry.request_body).toContain('My mail is')
    expect(JSON.stringify(entry)).not.toContain('ada@example.com')
    expect(JSON.stringify(entry)).not.toContain(world.secretKey)
    const summary = (await world.api.get('/v1/usage?group_by=tenant,operation')).body
    expect(summary.data).toContainEqual(expect.objectContaining({ tenant_id: tenant, operation: 'chat', calls: 1 }))
    const invoice = (await world.api.get(`/v1/usage/export?tenant_id=${tenant}`)).body
    expect(invoice.lines).toMatchObject([{ tenant_id: tenant, provider: 'simulated', calls: 1 }])
  })

  it('refuses an unknown or suspended tenant', async () => {
    const unknown = await say({ 'x-tenant-id': 'ten_00000000000000000000000000' })
    expect([unknown.status, unknown.body.error]).toMatchObject([404, { code: 'not_found', param: 'X-Tenant-Id' }])
    const { id } = (await world.api.post('/v1/tenants', { external_id: 'gone', name: 'Gone' })).body
    await world.api.post(`/v1/tenants/${id}`, { status: 'suspended' }, { method: 'PATCH' })
    expect((await say({ 'x-tenant-id': id })).body.error).toMatchObject({ code: 'tenant_suspended' })
  })

  it('logs refused requests with their error code', async () => {
    await world.api.post('/v1/chat/completions', { ...chat, model: 'no-such-model' })
    const { data } = (await world.api.get('/v1/request-log?failed=true&model=nothing')).body
    expect(data).toEqual([])
    const failed = (await world.api.get('/v1/request-log?error=model_not_found')).body
    expect(failed.data).toMatchObject([{ asked_model: 'no-such-model', status: 404, provider: null }])
  })

  it('enforces a rate limit and a budget, with the error format of each API, until they are lifted', async () => {
    const limits = async (body: object): Promise<string> => (await world.api.post('/v1/limits', body)).body.id
    const id = await limits({ subject: 'tenant', subject_id: tenant, requests_per_minute: 1 })
    const headers = { 'x-tenant-id': tenant }
    const first = await say(headers)
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const refused = await say(headers)
    expect([refused.status, refused.body.error]).toMatchObject([
      429,
      { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('1')
    const flat = await world.api.post('/api/ai/chat', chat, { headers })
    expect([flat.status, flat.body.error]).toEqual([429, 'rate_limit_exceeded'])
    expect((await say()).status).toBe(200)
    expect(await limits({ subject: 'tenant', subject_id: tenant, budget_total_usd: '0.000000000001' })).toBe(id)
    const poor = await say(headers)
    expect([poor.status, poor.body.error]).toMatchObject([402, { code: 'budget_exceeded', type: 'billing_error' }])
    const shown = (await world.api.get(`/v1/limits/${id}`)).body
    expect(shown).toMatchObject({ requests_per_minute: null, spent_total_usd: '0', reserved_usd: '0' })
    await limits({ subject: 'tenant', subject_id: tenant, budget_total_usd: '1' })
    expect((await say(headers)).status).toBe(200)
    // the cost is recorded after the answer
    await expect
      .poll(async () => Number((await world.api.get(`/v1/limits/${id}`)).body.spent_total_usd))
      .toBeGreaterThan(0)
    await world.api.fetch(`/v1/limits/${id}`, undefined, { method: 'DELETE' })
    expect((await say(headers)).status).toBe(200)
  })

  it('has the rate limit headers in the answers of every API, also streamed ones', async () => {
    const limit = { subject: 'tenant', subject_id: tenant, requests_per_minute: 100, tokens_per_minute: 1_000_000 }
    const { id } = (await world.api.post('/v1/limits', limit)).body
    const messages = [{ role: 'user', content: 'Hi' }]
    const model = 'simulated-1'
    const forms: readonly (readonly [path: string, body: object])[] = [
      ['/v1/chat/completions', { model, messages }],
      ['/v1/responses', { model, input: 'Hi' }],
      ['/v1/messages', { model, max_tokens: 50, messages }],
      ['/api/ai/chat', { model, messages }],
      ['/v1/embeddings', { model, input: 'Hi' }],
    ]
    const streamed = forms.slice(0, 4).map(([path, body]) => [path, { ...body, stream: true }] as const)
    for (const [path, body] of [...forms, ...streamed]) {
      const answer = await world.api.fetch(path, body, { headers: { 'x-tenant-id': tenant } })
      await answer.text()
      const said = [answer.status, answer.headers.get('x-ratelimit-limit-requests')]
      expect([path, ...said]).toEqual([path, 200, '100'])
      expect(answer.headers.get('x-ratelimit-limit-tokens')).toBe('1000000')
    }
    await world.api.fetch(`/v1/limits/${id}`, undefined, { method: 'DELETE' })
  })

  it('applies a budget to session turns, and records the cost that the client receives', async () => {
    const { api } = world
    const session = await api.createSession()
    const turn = async () => (await (await api.turn(session, { input: 'Hello' })).all()).at(-1)?.data
    const limits = (budget_total_usd: string) => api.post('/v1/limits', { subject: 'project', budget_total_usd })
    const { id } = (await limits('0.000000000001')).body
    expect(await turn()).toMatchObject({ output: { error: { code: 'budget_exceeded' } } })
    await limits('1')
    const notified = await turn()
    const { spent_total_usd } = (await api.get(`/v1/limits/${id}`)).body
    expect(Number(spent_total_usd)).toBeGreaterThan(0)
    expect(notified).toMatchObject({ usage: { cost_usd: spent_total_usd } })
    const { data } = (await api.get('/v1/usage/events?operation=session.turn')).body
    expect(data).toMatchObject([{ session_id: session, provider_cost_usd: spent_total_usd }])
    await api.fetch(`/v1/limits/${id}`, undefined, { method: 'DELETE' })
  })

  it('keeps usage rows exactly once after a crash, and deletes them with their tenant', async () => {
    const calls = async () => (await world.api.get('/v1/usage')).body.totals.calls
    for (let n = 0; n < 5; n++) await say({ 'x-tenant-id': tenant })
    // reading makes them durable
    const before = await calls()
    await world.crash()
    await world.restart()
    expect(await calls()).toBe(before)
    await world.api.fetch(`/v1/tenants/${tenant}`, undefined, { method: 'DELETE' })
    const left = async () => {
      const { audit_log: _mongo, records_audit_log: _sqlite, ...others } = await world.mentions(tenant)
      return others
    }
    await expect.poll(left, { ...patience, interval: 1000 }).toEqual({})
  })
})
