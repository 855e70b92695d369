import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '#test/e2e/api.ts'
import { patience } from '#test/e2e/patience.ts'
import { World } from '#test/e2e/world.ts'
import { RealtimeConnection, userSays } from '#test/gateway/realtime/realtime-socket.ts'
import { StrictProvider } from '#test/gateway/realtime/strict-provider.ts'

const key = 'sk-of-the-provider-0123456789'
const model = 'gpt-realtime'
const respond = { type: 'response.create' }

/** 172 text, 128 cached text, 444 audio and 256 cached audio tokens in; 34 text and 200 audio tokens out. */
const cost = '0.0283936'

describe('a realtime session of a model whose provider has them', () => {
  let provider: StrictProvider
  let world: World
  const open: RealtimeConnection[] = []

  beforeAll(async () => {
    provider = await StrictProvider.open({ key, model })
    world = await World.start({ tools: [provider] })
    expect((await world.api.post('/v1/provider-connections', connection())).status).toBe(201)
  })
  afterAll(async () => {
    for (const connection of open) connection.close()
    await world.stop()
    await provider.close()
  })

  const connection = () => ({ name: 'Ours', provider: 'openai', base_url: `${provider.url}/v1`, api_key: key })
  const connect = (options: { readonly key?: string; readonly protocols?: string[]; readonly query?: string } = {}) => {
    const { query = `model=${model}`, ...given } = options
    const own = given.protocols === undefined ? { key: world.secretKey } : {}
    const connection = new RealtimeConnection(`${world.url}/v1/realtime?${query}`, { ...own, ...given })
    open.push(connection)
    return connection
  }
  const refusalOfUpgrade = (): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    const headers = { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    request(`${world.url}/v1/realtime?model=${model}`, {
      headers: { ...headers, authorization: `Bearer ${world.secretKey}` },
    })
      .on('response', (response) => resolve(text(response)))
      .on('error', reject)
      .end()
    return promise
  }
  const log = async () => (await world.api.get('/v1/request-log?operation=realtime.connect')).body.data
  const mint = async (body: object) => (await world.api.post('/v1/realtime/client_secrets', body)).body
  const withSecret = (secret: string, query = '') =>
    connect({ protocols: ['realtime', `openai-insecure-api-key.${secret}`], query })

  it('passes events on in both directions with the key of the provider, and is metered to the last digit', async () => {
    const client = connect()
    expect(await client.until('session.created')).toMatchObject({ session: { model } })
    expect(JSON.stringify(provider.upgrades.at(-1))).not.toContain(world.secretKey)
    client.send(userSays('Hi'))
    const done = await client.exchange({ ...respond, event_id: 'mine' }, 'response.done')
    expect(provider.types).toEqual(['conversation.item.create', 'response.create'])
    expect(client.types).toContain('response.output_audio.delta')
    expect(done.response.usage.cost_usd).toBe(Number(cost))
    const logged = [
      { model, cost_usd: cost, input_tokens: 1_000, output_tokens: 234, status: 200 },
      { model, cost_usd: '0', status: 101 },
    ]
    await vi.waitFor(async () => expect(await log()).toMatchObject(logged), patience)
  })

  it('passes the errors of the provider on, and refuses a change of the model', async () => {
    const client = connect()
    const unknown = { type: 'session.update', event_id: 'e1', session: { type: 'realtime', no_such_field: 1 } }
    expect(await client.refused(unknown)).toMatchObject({ code: 'unknown_parameter', event_id: 'e1' })
    const other = { type: 'session.update', session: { type: 'realtime', model: 'gpt-realtime-2' } }
    expect(await client.refused(other)).toMatchObject({ code: 'invalid_field', param: 'session.model' })
    const same = { type: 'session.update', session: { type: 'realtime', model, instructions: 'Be brief.' } }
    expect(await client.exchange(same, 'session.updated')).toMatchObject({
      session: { model, instructions: 'Be brief.' },
    })
  })

  it('meters a response that the provider begins at the end of speech, and the transcript of the input', async () => {
    const client = connect()
    const input = { transcription: { model: 'whisper-1' } }
    await client.exchange(
      { type: 'session.update', session: { type: 'realtime', audio: { input } } },
      'session.updated',
    )
    client.send({ type: 'input_audio_buffer.append', audio: 'QUJD' })
    await client.exchange({ type: 'input_audio_buffer.commit' }, 'input_audio_buffer.committed')
    const from = client.events.length
    provider.emit({
      type: 'conversation.item.input_audio_transcription.completed',
      ...{ item_id: 'item_heard', content_index: 0, transcript: 'Hello', usage: { type: 'duration', seconds: 30 } },
    })
    provider.respondToNewest()
    await client.until('response.done', from)
    await vi.waitFor(async () => {
      const lines: { readonly model: string; readonly cost_usd: string }[] = (await log()).slice(0, 2)
      const charged = lines.map((line) => `${line.model} ${line.cost_usd}`)
      expect(charged.sort()).toEqual([`${model} ${cost}`, 'whisper-1 0.003'])
    }, patience)
  })

  it('opens for an ephemeral secret in a subprotocol, with its configuration and within its budget', async () => {
    const session = { type: 'realtime', model, instructions: 'Be brief.' }
    const { value, expires_at, session: shown } = await mint({ session, budget_usd: '0.03' })
    expect([value.slice(0, 3), expires_at > Date.now() / 1000, shown]).toMatchObject(['ek_', true, { model }])
    const client = withSecret(value)
    expect(await client.until('session.updated')).toMatchObject({ session: { model, instructions: 'Be brief.' } })
    expect(client.protocol).toBe('realtime')
    await client.exchange(respond, 'response.done')
    await client.exchange(respond, 'response.done')
    expect(await client.refused({ ...respond, event_id: 'third' })).toMatchObject({
      code: 'budget_exceeded',
      event_id: 'third',
    })
    expect(await client.closed).toEqual({ code: 1008, reason: 'budget_exceeded' })
    expect(await withSecret(value).opened).toBe(false)
    expect(await withSecret(value, 'model=gpt-realtime-2').opened).toBe(false)
    expect((await world.as(value).get('/v1/models')).status).toBe(401)
    expect((await world.as(value).post('/v1/realtime/client_secrets', {})).status).toBe(401)
  })

  it('ends when transcripts alone have spent the budget of the tenant, or of its secret', async () => {
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'heard', name: 'Heard' })).body.id
    const limit = { subject: 'tenant', subject_id: tenant, budget_total_usd: '0.005' }
    expect((await world.api.post('/v1/limits', limit)).status).toBe(201)
    const session = { type: 'realtime', model, audio: { input: { transcription: { model: 'whisper-1' } } } }
    const payers = [{ tenant_id: tenant, external_user_id: 'ada' }, { budget_usd: '0.005' }]
    for (const payer of payers) {
      const client = withSecret((await mint({ session, ...payer })).value)
      await client.until('session.updated')
      const spoken = {
        item_id: 'item_heard',
        content_index: 0,
        transcript: 'Hello',
        usage: { type: 'duration', seconds: 30 },
      }
      // 0.003 USD each
      for (const _ of [1, 2])
        provider.emit({ type: 'conversation.item.input_audio_transcription.completed', ...spoken })
      expect(await client.closed).toEqual({ code: 1008, reason: 'budget_exceeded' })
      expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'budget_exceeded' } })
    }
  })

  it('leaves no connection to a provider that answers after the client left or its key ended', async () => {
    const dashboard = await world.dashboard()
    const keys = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/keys`
    const { id, key: made } = (await dashboard.post(keys, { name: 'brief' })).body
    const gate = Promise.withResolvers<void>()
    provider.before = gate.promise
    const [open, upgrades] = [provider.sockets.size, provider.upgrades.length]
    const [left, revoked] = [connect(), connect({ key: made })]
    await vi.waitFor(() => expect(provider.upgrades).toHaveLength(upgrades + 2), patience)
    left.close()
    await dashboard.get(`${keys}/${id}`, { method: 'DELETE' })
    expect(await revoked.closed).toEqual({ code: 1008, reason: 'authentication_required' })
    gate.resolve()
    provider.before = Promise.resolve()
    const ended = { error: 'cancelled', cost_usd: '0' }
    await vi.waitFor(async () => expect((await log()).slice(0, 2)).toMatchObject([ended, ended]), patience)
    expect(provider.sockets.size).toBe(open)
  })

  it('ends with an error when the budget of the tenant is spent', async () => {
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const limit = { subject: 'tenant', subject_id: tenant, budget_total_usd: '0.3' }
    expect((await world.api.post('/v1/limits', limit)).status).toBe(201)
    const owner = { tenant_id: tenant, external_user_id: 'ada' }
    const session = { type: 'realtime', model }
    const { value, expires_at } = await mint({
      session,
      ...owner,
      expires_after: { anchor: 'created_at', seconds: 60 },
    })
    expect(expires_at - Date.now() / 1000).toBeLessThanOrEqual(60)
    const idle = await mint({ session, ...owner, permissions: ['sessions:approve'] })
    expect(await withSecret(idle.value).opened).toBe(false)
    const client = withSecret(value)
    await client.until('session.created')
    expect((await client.exchange(respond, 'response.done')).response.status).toBe('completed')
    expect(await client.refused(respond)).toMatchObject({ code: 'budget_exceeded' })
    expect(await client.closed).toMatchObject({ code: 1008 })
  })

  describe.each([
    ['relayed', model],
    ['run by the server', 'simulated-1'],
  ])('a session that is %s', (_, served) => {
    /** Milliseconds from a change until the session ends with the error that names it. */
    const endsAfter = async (client: RealtimeConnection, change: () => Promise<{ readonly status: number }>) => {
      await client.until('session.created')
      const from = performance.now()
      const { status } = await change()
      expect([200, 202]).toContain(status)
      expect(await client.closed).toEqual({ code: 1008, reason: 'authentication_required' })
      return performance.now() - from
    }
    const session = { type: 'realtime', model: served }
    const projectOf = async (dashboard: Api) => (await dashboard.get('/api/projects')).body.data.at(-1).id
    const minting = async (dashboard: Api) => {
      const keys = `/api/projects/${await projectOf(dashboard)}/keys`
      const { id, key: made } = (await dashboard.post(keys, { name: 'minting' })).body
      return { made, revoke: () => dashboard.get(`${keys}/${id}`, { method: 'DELETE' }) }
    }

    it('ends within a second of the revocation of its key, or of the one that minted its secret', async () => {
      const dashboard = await world.dashboard()
      const { made, revoke } = await minting(dashboard)
      expect(await endsAfter(connect({ key: made, query: `model=${served}` }), revoke)).toBeLessThan(1_000)
      const second = await minting(dashboard)
      const { body } = await world.as(second.made).post('/v1/realtime/client_secrets', { session })
      expect(await endsAfter(withSecret(body.value), second.revoke)).toBeLessThan(1_000)
    })

    it('ends within a second of the deletion of its tenant, or of the project', async () => {
      const tenant = (await world.api.post('/v1/tenants', { name: 'Gone', external_id: `gone of ${served}` })).body.id
      const remove = () => world.api.get(`/v1/tenants/${tenant}`, { method: 'DELETE' })
      const { value } = await mint({ session, tenant_id: tenant, external_user_id: 'ada' })
      expect(await endsAfter(withSecret(value), remove)).toBeLessThan(1_000)
      const dashboard = await world.dashboard()
      const { id } = (await dashboard.post('/api/projects', { name: 'Gone' })).body
      const key = (await dashboard.post(`/api/projects/${id}/keys`, { name: 'k' })).body.key
      await world.as(key).post('/v1/provider-connections', connection())
      const end = () => dashboard.post(`/api/projects/${id}/delete`, { name: 'Gone' })
      expect(await endsAfter(connect({ key, query: `model=${served}` }), end)).toBeLessThan(1_000)
    })
  })

  it('reports a lost provider and closes, and charges what was passed on by estimate', async () => {
    const refused = connect({ query: 'model=gpt-realtime-2' })
    expect(await refused.until('error')).toMatchObject({ error: { code: 'model_not_found' } })
    expect(await refused.closed).toMatchObject({ code: 1008 })
    const client = connect()
    await client.until('session.created')
    provider.ends = false
    await client.exchange(respond, 'response.output_audio_transcript.delta')
    provider.ends = true
    for (const socket of provider.sockets) socket.terminate()
    expect(await client.until('error')).toMatchObject({ error: { code: 'provider_stream_broken' } })
    expect(await client.closed).toMatchObject({ code: 1011 })
    await vi.waitFor(async () => {
      const [{ error, output_tokens }] = await log()
      // a second of audio is 20 tokens
      expect([error, output_tokens > 20, output_tokens < 30]).toEqual(['provider_stream_broken', true, true])
    }, patience)
  })

  it('moves to the next key of a pool when the provider refuses one', async () => {
    const pooled = await StrictProvider.open({ key, model: 'gpt-realtime-mini' })
    const other = await World.start({ tools: [pooled] })
    try {
      for (const api_key of ['sk-that-has-been-revoked', key])
        await other.api.post('/v1/provider-connections', {
          ...{ name: api_key, provider: 'openai', base_url: `${pooled.url}/v1`, api_key },
        })
      const query = `${other.url}/v1/realtime?model=gpt-realtime-mini`
      const client = new RealtimeConnection(query, { key: other.secretKey })
      open.push(client)
      await client.until('session.created')
      expect(pooled.upgrades.map(({ authorization }) => authorization)).toEqual([
        'Bearer sk-that-has-been-revoked',
        `Bearer ${key}`,
      ])
    } finally {
      await other.stop()
      await pooled.close()
    }
  })

  it('refuses what is no event of the protocol, and does not end by it', async () => {
    const client = connect()
    expect(await client.refused('{')).toMatchObject({ code: 'malformed_json' })
    expect(await client.refused('[]')).toMatchObject({ code: 'bad_request' })
    expect(await client.refused({})).toMatchObject({ code: 'missing_field', param: 'type' })
    expect(await client.refused(`{"type":"x","a":${'['.repeat(900)}${']'.repeat(900)}}`)).toMatchObject({
      code: 'malformed_json',
    })
    expect((await client.exchange(respond, 'response.done')).response.status).toBe('completed')
    client.sendBytes(new Uint8Array([0xff, 0xfe]))
    expect((await client.closed).code).toBe(1003)
    const large = connect()
    await large.until('session.created')
    large.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(8 * 1024 * 1024) })
    expect([1006, 1009]).toContain((await large.closed).code)
    const flood = connect()
    await flood.until('session.created')
    for (let sent = 0; sent < 5_000; sent++) flood.send('{}')
    expect([1006, 1008]).toContain((await flood.closed).code)
  })

  it('is refused where a guardrail blocks or replaces, which ends an open one, and not where it only flags', async () => {
    const checks = (action: string) => [{ type: 'words', words: ['falcon'], action }]
    const made = { name: 'spoken', is_default: true, checks: checks('flag') }
    const { id } = (await world.api.post('/v1/guardrails', made)).body
    const client = connect()
    await client.until('session.created')
    expect((await client.exchange(respond, 'response.done')).response.status).toBe('completed')
    const change = (action: string) =>
      world.api.post(`/v1/guardrails/${id}`, { checks: checks(action) }, { method: 'PATCH' })
    await change('redact')
    await vi.waitFor(async () => expect(await connect().opened).toBe(false), patience)
    expect(await refusalOfUpgrade()).toContain("The guardrail 'spoken' cannot check a realtime session of this model.")
    expect(await client.refused(respond)).toMatchObject({ code: 'content_policy_violation' })
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(await connect({ query: 'model=simulated-1' }).opened).toBe(true)
    await world.api.post(`/v1/guardrails/${id}`, undefined, { method: 'DELETE' })
    await vi.waitFor(async () => expect(await connect().opened).toBe(true), patience)
  })

  it('refuses credentials that do not reach a model', async () => {
    const agent = (await world.api.post('/v1/agents', { name: 'a', config: { model: 'simulated-1' } })).body.id
    const keyOf = async (key_type: string) =>
      (await world.api.post(`/v1/agents/${agent}/keys`, { key_type, name: key_type })).body.key
    expect(await connect({ key: await keyOf('public') }).opened).toBe(false)
    expect(await connect({ key: await keyOf('public'), query: `model=${agent}` }).opened).toBe(true)
    expect(await connect({ key: await keyOf('secret'), query: `model=${agent}` }).opened).toBe(true)
    expect(await connect({ key: 'csk_unknown' }).opened).toBe(false)
    expect(await connect({ query: 'model=agt_01kb4xkq6v3n1m2p5r7s9t0w2y' }).opened).toBe(false)
    expect(await connect({ query: '' }).opened).toBe(false)
  })
})
