import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callOf, keyed, refusalOf, secretOf } from '#test/actors/agents/harness.ts'
import { jsonOf } from '#test/support/json-of.ts'
import { type ConnectionsWorld, openConnectionsWorld } from './connections-world.ts'
import { broken, json, type ModelServer, modelList, openModelServer, redirect, silent, text } from './model-server.ts'

const day = 24 * 60 * 60 * 1000
let server: ModelServer
let world: ConnectionsWorld
let connection: string

beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  world = await openConnectionsWorld({ allowed: [server.host] })
  connection = await connect()
})
afterEach(() => world.close())

const connect = async (provider = 'rack'): Promise<string> => {
  const given = {
    name: 'Mine',
    provider,
    api_key: 'sk-1',
    base_url: `${server.url}/v1`,
    is_active: true,
    fallback_to_managed: false,
    weight: 1,
  }
  return (await world.useCases['provider_connections.create'](callOf({}, {}, given))).id
}
const preview = async (...models: readonly (string | object)[]) => {
  server.does(modelList(...models))
  return world.useCases['model_syncs.create'](callOf({ connection_id: connection }, {}, undefined))
}
const at = (sync_id: string, connection_id = connection, principal = secretOf()) =>
  callOf({ connection_id, sync_id }, {}, undefined, principal)
const apply = (id: string) => world.useCases['model_syncs.apply'](at(id))
const read = (id: string) => world.useCases['model_syncs.get'](at(id))
const connectionNow = () =>
  world.useCases['provider_connections.get'](callOf({ connection_id: connection }, {}, undefined))
const listed = async () => {
  const rows = jsonOf(await world.useCases['models.list'](callOf({}, { connection_id: connection }, undefined)))
  return rows.data.map(({ id }) => id)
}
const model = (id: string, name = id, context_window = 0) => ({ id, name, context_window })

describe('the preview of a model sync', () => {
  it('is the difference to the models of the connection, and changes nothing', async () => {
    const first = await preview('b', { id: 'a', name: 'Model A', context_length: 8192 })
    expect(first).toMatchObject({
      ...{ id: expect.stringMatching(/^syn_/), connection_id: connection, status: 'preview', model_count: 2 },
      ...{ added: [model('a', 'Model A', 8192), model('b')], removed: [], changed: [], applied_at: null },
      expires_at: expect.any(String),
    })
    expect(await connectionNow()).toMatchObject({ model_sync_id: null, model_count: 0 })
    expect(await listed()).toEqual([])
    await apply(first.id)
    const second = await preview({ id: 'a', name: 'Model A', context_length: 16_384 }, 'c')
    expect(second).toMatchObject({
      added: [model('c')],
      removed: [model('b')],
      changed: [{ ...model('a', 'Model A', 16_384), previous: { name: 'Model A', context_window: 8192 } }],
    })
    expect(await read(second.id)).toEqual(second)
    expect(await listed()).toEqual(['a', 'b'])
  })

  it('contains all pages in each format, and only models whose ids fit in a path', async () => {
    server.does((response, { path }) =>
      json(
        path.includes('after_id=claude-b')
          ? { data: [{ id: 'claude-c', display_name: 'C', max_input_tokens: 1000 }], has_more: false }
          : { data: [{ id: 'claude-a' }, { id: 'claude-b' }], has_more: true, last_id: 'claude-b' },
      )(response, { method: '', path, headers: {}, body: '' }),
    )
    const given = {
      name: 'A',
      provider: 'anthropic',
      api_key: 'sk-1',
      base_url: server.url,
      is_active: true,
      fallback_to_managed: false,
      weight: 1,
    }
    connection = (await world.useCases['provider_connections.create'](callOf({}, {}, given))).id
    const call = callOf({ connection_id: connection }, {}, undefined)
    expect((await world.useCases['model_syncs.create'](call)).added).toEqual([
      model('claude-a'),
      model('claude-b'),
      model('claude-c', 'C', 1000),
    ])
    connection = await connect('together')
    server.does(
      json([
        { id: 'bare' },
        { id: '' },
        { id: 'with space' },
        { id: 7 },
        'text',
        { id: 'x'.repeat(300) },
        { id: 'bare' },
      ]),
    )
    const bare = await world.useCases['model_syncs.create'](callOf({ connection_id: connection }, {}, undefined))
    expect(bare.added).toEqual([model('bare')])
  })

  it.each([
    ['a refused key', json({}, 401), 'provider_error'],
    ['a broken server', text('oh', 500), 'provider_error'],
    ['no list', json({}, 404), 'provider_error'],
    ['no JSON', text('<html>'), 'provider_error'],
    ['a redirect to a private address', redirect('http://10.0.0.1/'), 'provider_error'],
    ['a broken connection', broken, 'provider_unavailable'],
  ] as const)('is refused with the error of the provider: %s', async (_, behaviour, code) => {
    server.does(behaviour)
    const call = callOf({ connection_id: connection }, {}, undefined)
    expect(await refusalOf(world.useCases['model_syncs.create'](call))).toBe(code)
    expect(await world.stored('model_syncs')).toBe('[]')
  })

  it('is refused when the provider does not respond in time', async () => {
    await world.close()
    world = await openConnectionsWorld({ allowed: [server.host], timeoutMs: 200 })
    connection = await connect()
    server.does(silent)
    const call = callOf({ connection_id: connection }, {}, undefined)
    expect(await refusalOf(world.useCases['model_syncs.create'](call))).toBe('provider_timeout')
    expect(await world.stored('model_syncs')).toBe('[]')
  })

  it('is created once by requests with the same Idempotency-Key', async () => {
    server.does(modelList('a'))
    const call = keyed(callOf({ connection_id: connection }, {}, undefined), 'k')
    const first = await world.useCases['model_syncs.create'](call)
    server.does(modelList('b'))
    expect(await world.useCases['model_syncs.create'](call)).toEqual(first)
  })

  it('expires after seven days unless it was applied', async () => {
    const [kept, gone] = [await preview('a'), await preview('b')]
    await apply(kept.id)
    world.skip(7 * day)
    expect(await refusalOf(read(gone.id))).toBe('not_found')
    expect(await read(kept.id)).toMatchObject({ status: 'applied', expires_at: null })
    expect(await world.routed('a')).toEqual(['rack a'])
  })
})

describe('the application of a model sync', () => {
  it('sets the previewed models of the connection, regardless of the current list of the provider', async () => {
    const { id } = await preview('a', 'b')
    server.does(modelList('c'))
    expect(await apply(id)).toMatchObject({ id, status: 'applied', applied_at: expect.any(String), expires_at: null })
    expect(server.received).toEqual([])
    expect(await listed()).toEqual(['a', 'b'])
    expect(await connectionNow()).toMatchObject({ model_sync_id: id, model_count: 2 })
    expect(await world.routed('a')).toEqual(['rack a'])
    expect(await world.routed('c')).toBe('model_not_found')
    expect(await world.audited()).toContain('provider_connection.models_applied sync_id model_count')
  })

  it('is idempotent, also after another sync was applied', async () => {
    const one = await preview('a')
    const first = await apply(one.id)
    expect(await apply(one.id)).toEqual(first)
    const two = await preview('b')
    await apply(two.id)
    expect(await apply(one.id)).toMatchObject({ id: one.id, status: 'applied' })
    expect(await listed()).toEqual(['b'])
    expect((await world.audited()).filter((line) => line.includes('models_applied'))).toHaveLength(2)
  })

  it('is refused when another sync was applied since the preview', async () => {
    const [one, two] = [await preview('a'), await preview('b')]
    await apply(two.id)
    expect(await refusalOf(apply(one.id))).toBe('version_conflict')
    expect(await listed()).toEqual(['b'])
    expect(await read(one.id)).toMatchObject({ status: 'preview', expires_at: expect.any(String) })
  })

  it('succeeds for only one of two concurrent syncs', async () => {
    const [one, two] = [await preview('a'), await preview('b')]
    const ends = await Promise.all([refusalOf(apply(one.id)), refusalOf(apply(two.id))])
    expect([...ends].sort()).toEqual(['not refused', 'version_conflict'])
    expect(await listed()).toEqual(ends[0] === 'not refused' ? ['a'] : ['b'])
  })

  it('takes effect once for concurrent requests', async () => {
    const { id } = await preview('a')
    const answers = await Promise.all(Array.from({ length: 10 }, () => apply(id)))
    for (const answer of answers) expect(answer).toMatchObject({ id, status: 'applied' })
    expect((await world.audited()).filter((line) => line.includes('models_applied'))).toHaveLength(1)
  })

  it('is refused to other projects and for other connections', async () => {
    const { id } = await preview('a')
    const theirs = at(id, connection, secretOf('prj_b'))
    expect(await refusalOf(world.useCases['model_syncs.get'](theirs))).toBe('not_found')
    expect(await refusalOf(world.useCases['model_syncs.apply'](theirs))).toBe('not_found')
    const other = await connect('shelf')
    expect(await refusalOf(world.useCases['model_syncs.get'](at(id, other)))).toBe('not_found')
    expect(await refusalOf(world.useCases['model_syncs.apply'](at(id, other)))).toBe('not_found')
  })

  it('leaves no syncs and no models when its connection is deleted', async () => {
    await apply((await preview('a')).id)
    await preview('b')
    await world.useCases['provider_connections.delete'](callOf({ connection_id: connection }, {}, undefined))
    expect(await world.stored('model_syncs')).toBe('[]')
    expect(await world.routed('a')).toBe('model_not_found')
  })
})
