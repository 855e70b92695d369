import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Answered, Api } from './api.ts'
import { noBrowser } from './browser/no-browser.ts'
import { patience } from './patience.ts'
import { isEvent, type StreamReader } from './stream-reader.ts'
import { failuresOf } from './sweep/cases.ts'
import { gatedTurn, startToolServer, type ToolServer } from './tool-server.ts'
import { stores, World } from './world.ts'

const atATime = 20
/** For each operation that creates, on each store. */
const aFew = 8

/** Tenants that a base is granted to. */
const grants = 16

/** What stands before a test: whom and what bodies name. */
interface Made {
  readonly tenant: string
  readonly agent: string
  readonly hook: string
  readonly skill: string
  readonly base: string
  readonly granted: readonly string[]
}

/** A body for each operation that creates; `n` makes it another one. */
const bodies: Readonly<Record<string, (n: number, made: Made) => object>> = {
  'sessions.create': (n) => ({ metadata: { n } }),
  'actions.create': (n) => ({ tool: 'refund', arguments: { n } }),
  'agents.create': (n) => ({ name: `Agent ${n}`, config: { model: 'simulated-1' } }),
  'tenants.create': (n) => ({ external_id: `tenant-${n}`, name: 'Tenant' }),
  'client_tokens.create': (n, { tenant }) => ({ tenant_id: tenant, external_user_id: `user-${n}` }),
  'agent_keys.create': (n) => ({ name: `Key ${n}` }),
  'agent_versions.create': (n) => ({ version: `2.0.${n}`, config: { model: 'simulated-1' } }),
  'installations.create': (n, { tenant, agent }) => ({
    tenant_id: tenant,
    agent_id: agent,
    overlays: { system_prompt_append: `Number ${n}.` },
  }),
  'runs.create': (n) => ({ input: { prompt: `hello ${n}` } }),
  'end_users.create': (n) => ({ external_id: `end-user-${n}` }),
  'limits.create': (n, { tenant }) => ({ subject: 'tenant', subject_id: tenant, requests_per_minute: 9_000 + n }),
  'rate_plans.create': (n) => ({ name: `Plan ${n}` }),
  'webhooks.create': (n, { hook }) => ({ name: `Hook ${n}`, url: hook, events: ['tenant.deleted'] }),
  'provider_connections.create': (n, { hook }) => ({
    ...{ name: `Connection ${n}`, provider: 'own', base_url: hook, api_key: `key-${n}` },
  }),
  'custom_providers.create': (n, { hook }) => ({ name: `Server ${n}`, baseUrl: hook, format: 'openai' }),
  'embeddings.create': (n) => ({ model: 'simulated-1', input: `text ${n}` }),
  'ai_chat.create': (n) => ({ model: 'simulated-1', messages: [{ role: 'user', content: `hello ${n}` }] }),
  'chat_completions.create': (n) => ({ model: 'simulated-1', messages: [{ role: 'user', content: `hello ${n}` }] }),
  'messages.create': (n) => ({
    ...{ model: 'simulated-1', max_tokens: 50, messages: [{ role: 'user', content: `hello ${n}` }] },
  }),
  'responses.create': (n) => ({ model: 'simulated-1', input: `hello ${n}` }),
  'conversations.create': (n) => ({ metadata: { n: `${n}` } }),
  'moderations.create': (n) => ({ model: 'documents/m1', input: `text ${n}` }),
  'completions.create': (n) => ({ model: 'documents/m1', prompt: `hello ${n}` }),
  'rerank.create': (n) => ({ model: 'documents/m1', query: `text ${n}`, documents: ['a', 'b'] }),
  'skills.create': (n) => ({ name: `Skill ${n}`, description: 'Helps.' }),
  'skill_versions.create': (n) => ({ version: `1.0.${n}`, content: 'Be brief.' }),
  'skill_imports.create': (n) => ({ text: `Be brief ${n}.` }),
  'knowledge_bases.create': (n) => ({ name: `Base ${n}` }),
  'knowledge_grants.create': (n, { granted }) => ({ subject_type: 'tenant', subject_id: granted[n % granted.length] }),
  'knowledge_sources.create': (n) => ({ text: `Text ${n}.` }),
  'knowledge_recall_sets.create': (n) => ({ name: `Set ${n}`, questions: [{ question: 'Which?', text: 'Text' }] }),
  'web_crawls.create': (n) => ({ seeds: [`https://example.invalid/${n}`] }),
  'browser_jobs.create': (n) => ({ url: `https://example.invalid/${n}` }),
  'connections.create': (n) => ({ connector: 'stripe', api_key: `key-0123456789-${n}` }),
  'mcp_servers.create': (n, { hook }) => ({ name: `Server ${n}`, url: hook }),
  'projects.create': (n) => ({ name: `Project ${n}` }),
  'project_keys.create': (n) => ({ name: `Key ${n}` }),
  'project_members.create': (n) => ({ email: `member-${n}@example.com`, password: 'twelve letters' }),
}

const declared: readonly Operation[] = Object.values(operations)
const creates = declared.filter(({ id, method, body }) => method === 'POST' && id.endsWith('.create') && body !== null)

const statusOf = (answer: Operation['answer']): number =>
  answer.kind === 'choice' ? answer.json.status : answer.status

/** The path with the ids of what stands before the test. */
const placed = (path: string, { project, agent, skill, base }: Made & { readonly project: string }): string =>
  path
    .replace('{project_id}', project)
    .replace('{agent_id}', agent)
    .replace('{skill_id}', skill)
    .replace('{knowledge_base_id}', base)

/** Whether its answer has a secret, which is shown once. */
const showsSecret = ({ answer }: Operation): boolean => answer.kind === 'json' && answer.secret

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const isReplay = ({ headers }: { readonly headers: Headers }) => headers.get('idempotent-replayed') === 'true'

describe.each(stores)('an Idempotency-Key on $store', ({ store }) => {
  let world: World
  let dashboard: Api
  let project: string
  let made: Made
  let tool: ToolServer
  /** How often a body of each operation was made. */
  const asked = new Map<string, number>()

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool], env: noBrowser })
    dashboard = await world.dashboard()
    project = (await dashboard.get('/api/projects')).body.data[0].id
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const config = { model: 'simulated-1' }
    const agent = (await world.api.post('/v1/agents', { name: 'Agent', config })).body.id
    await world.api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config })
    await world.api.post(`/v1/agents/${agent}/versions/1.0.0/publish`)
    const skill = (await world.api.post('/v1/skills', { name: 'Skill', description: 'Helps.' })).body.id
    const base = (await world.api.post('/v1/knowledge-bases', { name: 'Base' })).body.id
    const granted: string[] = []
    for (let n = 0; n < grants; n++)
      granted.push((await world.api.post('/v1/tenants', { external_id: `granted-${n}`, name: 'Granted' })).body.id)
    made = { tenant, agent, hook: tool.url, skill, base, granted }
    const server = { name: 'documents', baseUrl: tool.url, format: 'openai', apiKey: 'key-1' }
    expect((await dashboard.post(`/api/projects/${project}/providers`, server)).status).toBe(201)
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  /** One that creates what is not there yet, as its caller makes it. */
  const create = async ({ id, access, answer, paths }: Operation, body: object, key?: string): Promise<Answered> => {
    const api = access.kinds.includes('secret_key') ? world.api : dashboard
    const path = placed(paths[0], { ...made, project })
    const answered = await api.post(path, body, key === undefined ? {} : keyed(key))
    if (id === 'runs.create' && answered.status === statusOf(answer)) await over(answered.body.id)
    return answered
  }

  /** A run goes on by itself: what it writes is not to be counted for what is asked after it. */
  const over = (run: string): Promise<void> =>
    vi.waitFor(async () => expect((await world.api.get(`/v1/runs/${run}`)).body.status).toBe('completed'), patience)

  const bodyOf = ({ id }: Operation): object => {
    const make = bodies[id]
    if (make === undefined) throw new Error(`say in bodies what ${id} takes`)
    const n = (asked.get(id) ?? 0) + 1
    asked.set(id, n)
    return make(n, made)
  }

  it.each(creates)('of $id gives the first answer again, or shows its secret once', async (operation) => {
    const { answer } = operation
    const body = bodyOf(operation)
    const [first, again] = [await create(operation, body, 'k-again'), await create(operation, body, 'k-again')]
    expect(first.status).toBe(statusOf(answer))
    expect(isReplay(first)).toBe(false)
    if (showsSecret(operation)) return expect(again.status).toBe(409)
    expect(isReplay(again)).toBe(true)
    expect({ status: again.status, body: again.body }).toEqual({ status: first.status, body: first.body })
  })

  it.each(creates)('of $id refuses another body', async (operation) => {
    const key = 'k-other'
    await create(operation, bodyOf(operation), key)
    expect(await create(operation, bodyOf(operation), key)).toMatchObject({
      status: 409,
      body: {
        error: ['platform', 'openai', 'anthropic'].includes(operation.envelope)
          ? { code: 'idempotency_key_reused' }
          : expect.any(String),
      },
    })
  })

  /** Eight at the same time under one key, of which one is carried out. */
  const together = async (operation: Operation): Promise<void> => {
    const body = bodyOf(operation)
    const answers = await Promise.all(Array.from({ length: aFew }, () => create(operation, body, 'k-together')))
    const good = answers.filter(({ status }) => status === statusOf(operation.answer))
    expect(good).toHaveLength(showsSecret(operation) ? 1 : aFew)
    expect(new Set(good.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(good.filter((answer) => !isReplay(answer))).toHaveLength(1)
  }

  /** By how many rows each table grows when each operation is asked once, and when it is asked eight times under one key. */
  const growthOf = async (operations: readonly Operation[]) => {
    const before = await settled(world)
    for (const operation of operations)
      expect(await create(operation, bodyOf(operation)), operation.id).toMatchObject({
        status: statusOf(operation.answer),
      })
    const between = await settled(world)
    const cases = operations.map((operation) => ({ title: operation.id, check: () => together(operation) }))
    expect(await failuresOf(cases)).toEqual([])
    return { once: growth(before, between), eightTimes: growth(between, await settled(world)) }
  }

  it('makes one of eight requests at the same time, whatever they create', async () => {
    const { once, eightTimes } = await growthOf(creates.filter(({ id }) => id !== 'runs.create'))
    expect(eightTimes).toEqual(once)
    // a client token is signed, not kept
    const rows = Object.values(once).reduce((sum, each) => sum + each, 0)
    expect(rows).toBeGreaterThanOrEqual(creates.length - 2)
  })

  it('makes one of eight runs that are requested at the same time', async () => {
    const { once, eightTimes } = await growthOf(creates.filter(({ id }) => id === 'runs.create'))
    // a run goes on by itself, in as many steps as it takes: it is counted by its own row
    const ofRuns = Object.keys(once).filter((name) => /(^|_)runs$/.test(name))
    expect(ofRuns.map((name) => [once[name], eightTimes[name]])).toEqual(ofRuns.map(() => [1, 1]))
    expect(ofRuns).not.toEqual([])
  })

  const framesOf = async (reader: StreamReader) => (await reader.all()).map(({ event, id, data }) => [event, id, data])

  it('of a turn gives its stream again, also after kill -9', async () => {
    const session = await world.api.createSession()
    const turn = (input: string) => world.api.turn(session, { input }, keyed('turn'))
    const first = await turn('hello')
    const frames = await framesOf(first)
    expect(isReplay(first)).toBe(false)
    const again = await turn('hello')
    expect(isReplay(again)).toBe(true)
    expect(again.headers.get('content-type')).toContain('text/event-stream')
    expect(await framesOf(again)).toEqual(frames)
    await expect(turn('something else')).rejects.toMatchObject({ status: 409 })
    await world.crash()
    await world.restart()
    expect(await framesOf(await turn('hello'))).toEqual(frames)
    expect((await world.api.get(`/v1/sessions/${session}`)).body.turn_count).toBe(1)
  })

  it('of a turn runs one of twenty at the same time, and streams it to all', async () => {
    const session = await world.api.createSession()
    const turn = () => world.api.turn(session, { input: 'one two three four five six' }, keyed('turn'))
    const readers = await Promise.all(Array.from({ length: atATime }, turn))
    expect(readers.filter((reader) => !isReplay(reader))).toHaveLength(1)
    const [first, ...others] = await Promise.all(readers.map(framesOf))
    for (const frames of others) expect(frames).toEqual(first)
    expect((await world.api.get(`/v1/sessions/${session}`)).body.turn_count).toBe(1)
  })

  it('of an approval runs the tool once, and streams the rest of the turn again, also after kill -9', async () => {
    const before = tool.calls.length
    const session = await world.api.createSession()
    const waits = await (await world.api.turn(session, gatedTurn(tool))).until(isEvent('turn.paused'))
    const approve = () => world.api.approve(session, waits.data.action_id, keyed('approval'))
    const readers = await Promise.all(Array.from({ length: atATime }, approve))
    expect(readers.filter((reader) => !isReplay(reader))).toHaveLength(1)
    const [first, ...others] = await Promise.all(readers.map(framesOf))
    for (const frames of others) expect(frames).toEqual(first)
    expect(first?.at(-1)?.[0]).toBe('turn.completed')
    const other = { action_id: waits.data.action_id, tool_results: [] }
    expect(await world.api.post(`/v1/sessions/${session}/approve`, other, keyed('approval'))).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    })
    await world.crash()
    await world.restart()
    const again = await approve()
    expect(isReplay(again)).toBe(true)
    expect(await framesOf(again)).toEqual(first)
    expect(tool.calls.length - before).toBe(1)
  })

  it('belongs to its operation and its user', async () => {
    const shared = keyed('shared')
    const session = await world.api.post('/v1/sessions', {}, shared)
    const agent = await world.api.post('/v1/agents', bodies['agents.create']?.(0, made), shared)
    const minted = await world.api.post(
      '/v1/client-tokens',
      { tenant_id: made.tenant, external_user_id: 'ada' },
      shared,
    )
    const theirs = await world.as(minted.body.token).post('/v1/sessions', {}, shared)
    expect([session, agent, minted, theirs].map(isReplay)).toEqual([false, false, false, false])
    expect(theirs.body.id).not.toBe(session.body.id)
  })

  it('is 1 to 255 characters long', async () => {
    expect(await world.api.post('/v1/sessions', {}, keyed('k'.repeat(255)))).toMatchObject({ status: 201 })
    expect(await world.api.post('/v1/sessions', {}, keyed('k'.repeat(256)))).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_header', param: 'Idempotency-Key' } },
    })
  })
})

type Counts = Readonly<Record<string, number>>

/** By how many rows each table has grown. */
const growth = (before: Counts, after: Counts): Record<string, number> =>
  Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]))

/** The rows of each table, the one of the keys aside, once those that follow commits are written. */
const settled = async (world: World): Promise<Record<string, number>> => {
  let last = ''
  let counts: Record<string, number> = {}
  const look = async () => {
    // whoever reads usage gets what was still being gathered: from here on it is in segments
    await world.api.get('/v1/usage/events?limit=1')
    const { idempotency_keys: _, records_idempotency_keys: __, ...others } = await world.counts()
    counts = others
    const before = last
    last = JSON.stringify(counts)
    expect(before).toBe(last)
    // gateway calls become rows of usage and of the log out of segments
    expect(counts.call_segments ?? counts.records_call_segments).toBe(0)
  }
  await vi.waitFor(look, { ...patience, interval: 150 })
  return counts
}
