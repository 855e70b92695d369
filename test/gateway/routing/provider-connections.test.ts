import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { callOf, keyed, refusalOf, secretOf } from '#test/actors/agents/harness.ts'
import { type ConnectionsWorld, openConnectionsWorld } from './connections-world.ts'
import { broken, json, type ModelServer, modelList, openModelServer, redirect, silent, text } from './model-server.ts'

let server: ModelServer
let world: ConnectionsWorld
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())
afterEach(async () => {
  vi.unstubAllEnvs()
  await world.close()
})

type Body = Parameters<ConnectionsWorld['useCases']['provider_connections.create']>[0]['body']

const key = 'sk-a-secret-of-theirs-7890'
const body = (more: Partial<Body> = {}): Body => ({
  name: 'Mine',
  provider: 'openai',
  api_key: key,
  is_active: true,
  fallback_to_managed: false,
  weight: 1,
  ...more,
})
const open = async (options = {}) => {
  world = await openConnectionsWorld({ allowed: [server.host], ...options })
  return world.useCases
}
const one = (id: string, principal = secretOf()) => callOf({ connection_id: id }, {}, undefined, principal)

describe('a provider connection', () => {
  it('never returns its key and stores it sealed', async () => {
    const useCases = await open()
    const made = await useCases['provider_connections.create'](callOf({}, {}, body()))
    expect(made).toEqual({
      ...{ first_byte_timeout_ms: null, idle_timeout_ms: null, requests_per_minute: null, tokens_per_minute: null },
      ...{ id: expect.stringMatching(/^pvc_/), name: 'Mine', provider: 'openai', api_format: 'openai', base_url: null },
      ...{
        key_last4: '7890',
        is_active: true,
        fallback_to_managed: false,
        weight: 1,
        prices: null,
        settings: null,
        status: 'untested',
        last_tested_at: null,
      },
      ...{ model_sync_id: null, model_count: 0, created_at: expect.any(String), updated_at: expect.any(String) },
    })
    const listed = await useCases['provider_connections.list'](callOf({}, { limit: 20 }, undefined))
    expect(listed).toEqual({ data: [made], next_cursor: null })
    expect(await useCases['provider_connections.get'](one(made.id))).toEqual(made)
    const stored = await world.stored('provider_connections')
    expect(stored).toContain(made.id)
    expect(stored).not.toContain(key)
    expect(stored).not.toContain(Buffer.from(key).toString('base64url'))
  })

  it('returns nothing of a short key', async () => {
    const useCases = await open()
    const made = await useCases['provider_connections.create'](callOf({}, {}, body({ api_key: 'sk-short' })))
    expect(made.key_last4).toBe('')
  })

  it('serves its models at once, other models after a change, and none after it was deleted', async () => {
    const useCases = await open()
    expect(await world.routed('gpt-4o')).toBe('provider_not_configured')
    const { id } = await useCases['provider_connections.create'](callOf({}, {}, body({ provider: 'OpenAI' })))
    expect(await world.routed('gpt-4o')).toEqual(['openai gpt-4o'])
    expect(await world.routed('gpt-4o', 'prj_b')).toBe('provider_not_configured')
    const change = (more: Partial<Body>) =>
      useCases['provider_connections.update'](callOf({ connection_id: id }, {}, more))
    await change({ is_active: false })
    expect(await world.routed('gpt-4o')).toBe('provider_not_configured')
    expect(await change({ is_active: true, provider: 'gemini', api_key: 'another-long-key-1234' })).toMatchObject({
      ...{ provider: 'google', api_format: 'google', key_last4: '1234' },
    })
    await useCases['provider_connections.delete'](one(id))
    expect(await world.routed('gemini-2.5-flash')).toBe('provider_not_configured')
    expect(await refusalOf(useCases['provider_connections.get'](one(id)))).toBe('not_found')
  })

  it('requires a new key for another address', async () => {
    const useCases = await open()
    const { id } = await useCases['provider_connections.create'](
      callOf({}, {}, body({ base_url: 'https://one.example.com/v1' })),
    )
    const change = (more: Partial<Body>) =>
      useCases['provider_connections.update'](callOf({ connection_id: id }, {}, more))
    const path = 'https://one.example.com/v2'
    for (const elsewhere of ['https://two.example.com/v1', 'http://one.example.com/v1', path, null]) {
      const error = await change({ base_url: elsewhere }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'missing_field', details: { param: 'api_key' } })
    }
    const same = 'https://ONE.example.com:443/x/../v1/'
    expect(await change({ base_url: same })).toMatchObject({ key_last4: '7890' })
    const moved = { base_url: null, provider: 'groq', api_key: 'gsk-another-key-4321' }
    expect(await change(moved)).toMatchObject({ base_url: null, provider: 'groq', key_last4: '4321' })
    expect(await refusalOf(change({ provider: 'mistral' }))).toBe('missing_field api_key')
  })

  it('is hidden from other projects', async () => {
    const useCases = await open()
    const { id } = await useCases['provider_connections.create'](callOf({}, {}, body()))
    const theirs = one(id, secretOf('prj_b'))
    for (const verb of ['get', 'delete', 'test'] as const) {
      expect(await refusalOf(useCases[`provider_connections.${verb}`](theirs)), verb).toBe('not_found')
    }
    const change = callOf({ connection_id: id }, {}, { name: 'Theirs' }, secretOf('prj_b'))
    expect(await refusalOf(useCases['provider_connections.update'](change))).toBe('not_found')
    const list = await useCases['provider_connections.list'](callOf({}, { limit: 20 }, undefined, secretOf('prj_b')))
    expect(list.data).toEqual([])
  })

  it('has lines in the audit log with the changed fields and without its key', async () => {
    const useCases = await open()
    const { id } = await useCases['provider_connections.create'](callOf({}, {}, body()))
    const change = (more: Partial<Body>) =>
      useCases['provider_connections.update'](callOf({ connection_id: id }, {}, more))
    await change({ name: 'Another' })
    await change({ name: 'Another' })
    await change({ api_key: 'sk-a-new-secret-0000' })
    await useCases['provider_connections.delete'](one(id))
    expect(await world.audited()).toEqual([
      'provider_connection.created',
      'provider_connection.deleted',
      'provider_connection.updated api_key key_last4',
      'provider_connection.updated name',
    ])
    expect(await world.stored('audit_log')).not.toContain('sk-a')
  })

  it('is created once by requests with the same Idempotency-Key', async () => {
    const useCases = await open()
    const call = keyed(callOf({}, {}, body()), 'k')
    const [first, again] = [
      await useCases['provider_connections.create'](call),
      await useCases['provider_connections.create'](call),
    ]
    expect(again).toEqual(first)
  })

  it.each([
    [{ provider: 'rack' }, 'missing_field base_url'],
    [{ provider: 'simulated' }, 'invalid_field provider'],
    [{ provider: 'anthropic', api_format: 'openai' }, 'invalid_field api_format'],
    [{ base_url: 'http://10.0.0.1/v1' }, 'invalid_field base_url'],
    [{ base_url: 'http://169.254.169.254/latest' }, 'invalid_field base_url'],
    [{ base_url: 'http://127.0.0.1:1/v1' }, 'invalid_field base_url'],
    [{ base_url: 'https://user:pass@models.example.com/v1' }, 'invalid_field base_url'],
    [{ base_url: 'https://models.example.com/v1?key=x' }, 'invalid_field base_url'],
    [{ base_url: 'https://models.example.com/v1/chat/completions' }, 'invalid_field base_url'],
  ] as const)('is refused with an invalid provider or URL: %o', async (more, refusal) => {
    const useCases = await open()
    expect(await refusalOf(useCases['provider_connections.create'](callOf({}, {}, body(more))))).toBe(refusal)
    expect(await refusalOf(useCases['provider_connections.validate'](callOf({}, {}, body(more))))).toBe(refusal)
  })
})

describe('the validation of a key', () => {
  const validate = async (more: Partial<Body> = {}, options = {}) => {
    const useCases = await open(options)
    const base_url = `${server.url}/v1`
    return useCases['provider_connections.validate'](callOf({}, {}, body({ base_url, ...more })))
  }

  it('requests the models of the provider and stores nothing', async () => {
    server.does(modelList('a', 'b'))
    expect(await validate()).toEqual({
      ...{ valid: true, provider: 'openai', api_format: 'openai', model_count: 2, error: null },
      latency_ms: expect.any(Number),
    })
    expect(server.received.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/models', `Bearer ${key}`],
    ])
    expect(await world.stored('provider_connections')).toBe('[]')
  })

  it.each([
    [
      'anthropic',
      '/v1/models?limit=1000',
      'x-api-key',
      { data: [{ id: 'claude-x', display_name: 'X' }], has_more: false },
    ],
    ['google', '/v1beta/models?pageSize=1000', 'x-goog-api-key', { models: [{ name: 'models/gemini-x' }] }],
    ['elevenlabs', '/v1/models', 'xi-api-key', [{ model_id: 'eleven_x', name: 'X' }]],
  ] as const)('uses the format of %s', async (provider, path, header, answer) => {
    server.does(json(answer))
    const valid = await validate({ provider, api_format: provider, base_url: server.url })
    expect(valid).toMatchObject({ valid: true, model_count: 1 })
    expect(server.received.map((request) => [request.path, request.headers[header]])).toEqual([[path, key]])
  })

  it.each([
    ['openai', ['authorization']],
    ['anthropic', ['anthropic-version', 'x-api-key']],
    ['google', ['x-goog-api-key']],
  ] as const)(
    'sends no header of the SDK or of its environment to %s, only those of the format',
    async (provider, own) => {
      vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: yes')
      vi.stubEnv('OPENAI_ORG_ID', 'org-own')
      vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'x-secret: yes')
      vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'own')
      server.does(modelList('a'))
      await validate({ provider, api_format: provider, base_url: server.url })
      const ours = ['accept', 'accept-encoding', 'connection', 'host', 'via']
      expect(server.received.map(({ headers }) => Object.keys(headers).toSorted())).toEqual([
        [...ours, ...own].toSorted(),
      ])
    },
  )

  it('calls an authenticated endpoint for providers with public model lists', async () => {
    server.does((response, request) =>
      (request.path.endsWith('/key') ? json({}, 401) : modelList('a'))(response, request),
    )
    expect(await validate({ provider: 'openrouter' })).toMatchObject({ valid: false, error: { code: 'key_refused' } })
    server.does((response, request) =>
      (request.path === '/v1/projects' ? json({ projects: [] }) : json({ stt: [{ canonical_name: 'nova-3' }] }))(
        response,
        request,
      ),
    )
    const deepgram = await validate({ provider: 'deepgram', api_format: 'deepgram', base_url: server.url })
    expect(deepgram).toMatchObject({ valid: true, model_count: 1 })
    expect(server.received[0]?.headers.authorization).toBe(`Token ${key}`)
  })

  it.each([
    ['together', '/chat/completions', ['GET', 'POST']],
    ['perplexity', '/responses', ['POST']],
  ])(
    'sends an empty request to a server without a model list, which reports missing fields for a valid key (%s)',
    async (provider, work, methods) => {
      const works = (status: number, message = 'model is required') => {
        server.does((response, { path }) =>
          json({ error: { message } }, path.endsWith(work) ? status : 404)(response, {
            ...{ method: '', path, headers: {}, body: '' },
          }),
        )
      }
      works(400)
      expect(await validate({ provider })).toMatchObject({ valid: true, model_count: 0 })
      expect(server.received.map(({ method }) => method)).toEqual(methods)
      expect(server.received.at(-1)?.body).toBe('{}')
      for (const [status, message] of [
        [401, ''],
        [400, 'Incorrect API key provided'],
      ] as const) {
        works(status, message)
        expect(await validate({ provider })).toMatchObject({ valid: false, error: { code: 'key_refused' } })
      }
    },
  )

  it.each([
    ['a refused key', json({ error: { message: `Incorrect API key ${key}` } }, 401), 'key_refused'],
    ['a key without rights', json({}, 403), 'key_refused'],
    ['a wrong key in the words of Google', json({ error: { message: 'API key not valid.' } }, 400), 'key_refused'],
    ['a wrong key in the words of xAI', json({ error: 'Incorrect API key provided: x' }, 400), 'key_refused'],
    ['a wrong request', json({ error: {} }, 400), 'provider_error'],
    ['a broken server', text('<h1>oh</h1>', 500), 'provider_error'],
    ['a redirect', redirect('http://127.0.0.1:1/'), 'provider_error'],
    ['something else than a list', json({ hello: 'world' }), 'unreadable'],
    ['no JSON', text('<html>'), 'unreadable'],
    ['a broken connection', broken, 'unreachable'],
  ] as const)('reports the failure: %s', async (_, behaviour, code) => {
    server.does(behaviour)
    const answer = await validate()
    expect(answer).toMatchObject({ valid: false, model_count: 0, error: { code } })
    expect(JSON.stringify(answer)).not.toContain(key)
    expect(server.received).toHaveLength(1)
  })

  it('times out for a silent server', async () => {
    server.does(silent)
    expect(await validate({}, { timeoutMs: 200 })).toMatchObject({ valid: false, error: { code: 'timeout' } })
  })

  it('reports a server that cannot be reached', async () => {
    const gone = await openModelServer()
    await gone.close()
    const useCases = await open({ allowed: [gone.host] })
    const call = callOf({}, {}, body({ base_url: `${gone.url}/v1` }))
    expect(await useCases['provider_connections.validate'](call)).toMatchObject({ error: { code: 'unreachable' } })
  })

  it('fails without an internal error when the stored key cannot be opened', async () => {
    const useCases = await open()
    const { id } = await useCases['provider_connections.create'](callOf({}, {}, body({ base_url: server.url })))
    server.does(modelList('a'))
    const later = await world.loseKeys()
    expect(await later['provider_connections.test'](one(id))).toMatchObject({
      ...{
        success: false,
        status: 'failed',
        error: { code: 'key_refused', message: expect.stringContaining('again') },
      },
    })
    expect(await refusalOf(later['model_syncs.create'](one(id)))).toBe('provider_error')
    expect(server.received).toEqual([])
  })

  it('of a stored connection sets its status, which is reset when the key changes', async () => {
    const useCases = await open()
    const { id } = await useCases['provider_connections.create'](
      callOf({}, {}, body({ base_url: `${server.url}/v1/` })),
    )
    server.does(modelList('a'))
    expect(await useCases['provider_connections.test'](one(id))).toMatchObject({
      ...{ success: true, status: 'ok', model_count: 1, error: null },
    })
    expect(await useCases['provider_connections.get'](one(id))).toMatchObject({
      ...{ status: 'ok', last_tested_at: expect.any(String) },
    })
    server.does(json({}, 401))
    expect(await useCases['provider_connections.test'](one(id))).toMatchObject({
      ...{ success: false, status: 'failed', error: { code: 'key_refused' } },
    })
    expect(await useCases['provider_connections.get'](one(id))).toMatchObject({ status: 'failed' })
    const changed = callOf({ connection_id: id }, {}, { api_key: 'another' })
    expect(await useCases['provider_connections.update'](changed)).toMatchObject({
      ...{ status: 'untested', last_tested_at: null },
    })
  })
})
