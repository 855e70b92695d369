import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { newId } from '#runtime/ids.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { codeIn, statusIn } from '#specs/errors/wire-errors.ts'
import { takesForms } from '../specs/sample-form.ts'
import { type Mutation, sampleOf, withoutRequired, withUnknown, withWrongTypes } from '../specs/samples.ts'
import { type Answered, Api, type Extra } from './api.ts'
import { noBrowser } from './browser/no-browser.ts'
import { patience } from './patience.ts'
import { type Case, failuresOf } from './sweep/cases.ts'
import { startToolServer, type ToolServer } from './tool-server.ts'
import { stores, World } from './world.ts'

/*
 * What follows from each declaration about requests that are wrong, held against the real server with real credentials
 * and real resources of two projects. Nothing here is written for one operation.
 */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const withBody = declared.filter((operation) => operation.body !== null && !takesForms(operation))
const withParams = guarded.filter(({ params }) => params.length > 0)
const ofClients = withParams.filter(
  ({ access, params }) => access.kinds.includes('client_token') && params.includes('session_id'),
)

/** A resource for each path parameter there is. */
type Ids = Readonly<Record<string, string>>

/** A user of a tenant is named by an id that its caller chooses. */
const madeUser = async (api: Api, tenant: string, user: string): Promise<string> => {
  await api.fetch(`/v1/tenants/${tenant}/users/${user}`, { display_name: user }, { method: 'PUT' })
  return user
}

/** Parameters that have to name what is there: a PUT makes what its last one names. */
const naming = ({ method, params }: Operation): readonly string[] => (method === 'PUT' ? params.slice(0, -1) : params)

const makeIds = async (project: Api, dashboard: Api, projectId: string, receiver: ToolServer): Promise<Ids> => {
  const made = async (api: Api, path: string, body: object): Promise<string> => (await api.post(path, body)).body.id
  const session = await project.createSession()
  const config = { model: 'simulated-1' }
  const agent = await made(project, '/v1/agents', { name: 'Agent', config })
  const tenant = await made(project, '/v1/tenants', { external_id: 'acme', name: 'Acme' })
  const version = await made(project, `/v1/agents/${agent}/versions`, { version: '1.0.0', config })
  await project.post(`/v1/agents/${agent}/versions/1.0.0/publish`)
  const installed = await made(project, '/v1/agent-installations', { tenant_id: tenant, agent_id: agent })
  // told of nothing that happens here but its trial, which the receiver takes at once: nothing is tried again meanwhile
  const webhook = await made(project, '/v1/webhooks', { name: 'w', url: receiver.url, events: ['tenant.deleted'] })
  const server = { name: 'own', base_url: receiver.url, provider: 'own', api_key: 'key' }
  const connection = await made(project, '/v1/provider-connections', server)
  const model = `model-of-${projectId}`
  const provider = await dashboard.post(`/api/projects/${projectId}/providers`, {
    ...{ name: 'own', baseUrl: receiver.url, format: 'openai', models: [{ name: 'Own', modelId: model }] },
  })
  const request = `request-of-${projectId}`
  const embedding = { model: 'simulated-1', input: 'hi' }
  await project.post('/v1/embeddings', embedding, { headers: { 'x-request-id': request } })
  return {
    project_id: projectId,
    request_id: request,
    limit_id: await made(project, '/v1/limits', { subject: 'tenant', subject_id: tenant, requests_per_minute: 9_999 }),
    connection_id: connection,
    sync_id: await made(project, `/v1/provider-connections/${connection}/model-syncs`, {}),
    provider_id: provider.body.provider.id,
    model,
    response_id: await made(project, '/v1/responses', { model: 'simulated-1', input: 'hi' }),
    webhook_id: webhook,
    delivery_id: await made(project, `/v1/webhooks/${webhook}/test`, {}),
    session_id: session,
    actor_id: session,
    action_id: await made(project, '/v1/actions', { tool: 'refund', arguments: {} }),
    agent_id: agent,
    run_id: await made(project, `/v1/agents/${agent}/runs`, { input: { prompt: 'hi' }, installation_id: installed }),
    version,
    // work is stuck after trouble only: the id of none, under which all is refused alike
    stuck_id: newId('stk'),
    agent_key_id: await made(project, `/v1/agents/${agent}/keys`, { name: 'k' }),
    installation_id: installed,
    tenant_id: tenant,
    external_user_id: await madeUser(project, tenant, `user-of-${projectId}`),
    ...(await contentsOf(project, tenant, { made, hook: receiver.url })),
    key_id: await made(dashboard, `/api/projects/${projectId}/keys`, { name: 'another' }),
    member_id: await made(dashboard, `/api/projects/${projectId}/members`, {
      email: `${projectId}@example.com`,
      password: 'twelve letters',
    }),
  }
}

type Made = (api: Api, path: string, body: object) => Promise<string>

/** A request to remove a page. */
const takedownRequest = {
  ...{ urls: ['https://site.example/'], basis: 'privacy', requesterName: 'Ada', requesterEmail: 'ada@example.com' },
  statement: 'This page is about me and no one else.',
}

/** What agents and users know: a base of knowledge, a memory, a skill, a conversation. */
const contentsOf = async (
  project: Api,
  tenant: string,
  { made, hook }: { readonly made: Made; readonly hook: string },
): Promise<Ids> => {
  const base = await made(project, '/v1/knowledge-bases', { name: 'Base' })
  const skill = await made(project, '/v1/skills', { name: 'Skill', description: 'Helps.' })
  const conversation = await made(project, '/v1/conversations', {})
  const items = [{ type: 'message', role: 'user', content: 'hi' }]
  const added = await project.post(`/v1/conversations/${conversation}/items`, { items })
  const granted = { subject_type: 'tenant', subject_id: tenant }
  const questions = [{ question: 'Which?', text: 'Text' }]
  return {
    knowledge_base_id: base,
    source_id: await made(project, `/v1/knowledge-bases/${base}/sources`, { text: 'Text.' }),
    grant_id: await made(project, `/v1/knowledge-bases/${base}/grants`, granted),
    recall_set_id: await made(project, `/v1/knowledge-bases/${base}/recall-sets`, { name: 'Set', questions }),
    memory_id: await made(project, '/v1/memory/write', { userId: 'ada', content: 'Likes tea.' }),
    skill_id: skill,
    import_id: await made(project, '/v1/skill-imports', { text: 'Be brief.' }),
    path: 'SKILL.md',
    crawl_id: await made(project, '/v1/web/crawls', { seeds: ['https://site.invalid/'] }),
    takedown_id: await made(project, '/v1/web/takedown', takedownRequest),
    conversation_id: conversation,
    item_id: added.body.data[0].id,
    task_id: 'compaction',
    jobId: await made(project, '/v1/web/browse', { url: 'https://example.invalid/' }),
    index: '0',
    // jobs alone make profiles: the id of none, under which all is refused alike
    profileId: newId('bpr'),
    server_id: await disabledServer(project, { made, hook }),
    tool_name: 'send',
    tool_connection_id: await made(project, '/v1/connections', { connector: 'stripe', api_key: 'key-0123456789' }),
    connector_id: 'github',
  }
}

/** One that is disabled is not asked for its tools again and again. */
const disabledServer = async (
  project: Api,
  { made, hook }: { readonly made: Made; readonly hook: string },
): Promise<string> => {
  const server = await made(project, '/v1/mcp/servers', { name: 'Tools', url: hook })
  await project.get(`/v1/mcp/servers/${server}`, { method: 'DELETE' })
  return server
}

/** What goes on by itself has come to its end: from here on nothing more is written for these. */
const ended = async (project: Api, { run_id, delivery_id, ...ids }: Ids): Promise<void> => {
  const atWork = ['queued', 'running', 'crawling', 'discovering']
  const others = [`web/crawls/${ids.crawl_id}`, `web/browse/${ids.jobId}`, `mcp/servers/${ids.server_id}`]
  await vi.waitFor(async () => {
    expect((await project.get(`/v1/runs/${run_id}`)).body.status).toBe('completed')
    expect((await project.get(`/v1/webhook-deliveries/${delivery_id}`)).body.status).toBe('delivered')
    for (const path of others) expect(atWork).not.toContain((await project.get(`/v1/${path}`)).body.status)
  }, patience)
}

const target = (operation: Operation, ids: Ids): string =>
  operation.paths[0].replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`say in makeIds how a ${name} is made`)
    return id
  })

/** What an error says, in whatever envelope the operation has. */
const refusalIn = ({ status, headers, body }: Answered) => {
  expect(headers.get('x-request-id'), 'every answer has its id').toMatch(/^req_/)
  expect(JSON.stringify(body)).not.toMatch(/\.ts:\d|\bat \w+ \(|sqlite|mongo/i)
  return typeof body.error === 'object'
    ? { status, ...body.error }
    : { ...body, ...body.details, status, code: body.error }
}

/** How the operation's envelope says so: the one of custom providers has a sentence and nothing else. */
const saying = ({ envelope }: Operation, code: ErrorCode, param?: string) => {
  const status = statusIn(envelope, code)
  if (envelope === 'custom_providers') return { status, code: expect.any(String) }
  return { status, code: codeIn(envelope, code), ...(param === undefined ? {} : { param }) }
}

/** Of the organisation or of the whole server, so that no project has its own. */
const ofTheHouse = ['project_id', 'member_id', 'task_id', 'path', 'tool_name', 'connector_id']

/** A model is no resource: its id says nothing of whose it is. */
const missing = (name: string): ErrorCode => (name === 'model' ? 'model_not_found' : 'not_found')

type Mutate = (schema: NonNullable<Operation['body']>['json']) => readonly Mutation[]

const mutated = ({ body }: Operation, mutate: Mutate): readonly Mutation[] => (body === null ? [] : mutate(body.json))

/** A request of an operation; without more it is a good one of who may. */
interface Asked {
  readonly operation: Operation
  readonly ids: Ids
  readonly api?: Api
  readonly body?: unknown
  readonly extra?: Extra
}

const unknownCredentials = [
  ['none', {}],
  ['an unknown key', { authorization: `Bearer csk_${'x'.repeat(43)}` }],
  ['an unknown token', { authorization: 'Bearer ect_a.b.c' }],
  ['no bearer', { authorization: 'Basic YTpi' }],
  ['an unknown cookie', { cookie: 'troupe_session=unknown; session=unknown' }],
] as const

describe.each(stores)('on $store', ({ store }) => {
  let world: World
  let receiver: ToolServer
  let mine: Ids
  let foreign: Ids
  let apis: Readonly<Record<string, Api>>
  let neighbours: Readonly<Record<string, string>>
  let before: Record<string, number>

  const clientOf = async (tenant: string | undefined, user: string): Promise<Api> => {
    const minted = await world.api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: user })
    return world.as(minted.body.token)
  }

  const newTenant = async (): Promise<string> =>
    (await world.api.post('/v1/tenants', { external_id: 'other', name: 'Other' })).body.id

  /** Rows follow their commits within a moment: counted until two counts are alike. */
  const settledCounts = async (): Promise<Record<string, number>> => {
    let last: Record<string, number> = {}
    const look = async () => {
      // whoever reads usage gets what was still being gathered: from here on it is in segments
      await world.api.get('/v1/usage/events?limit=1')
      const counts = await world.counts()
      const settled = isDeepStrictEqual(counts, last)
      last = counts
      expect(settled).toBe(true)
      // calls of the gateway are written together, and become rows of their own a moment later
      expect(counts.call_segments ?? counts.records_call_segments).toBe(0)
    }
    await vi.waitFor(look, { ...patience, interval: 300 })
    return last
  }

  beforeAll(async () => {
    receiver = await startToolServer()
    world = await World.start({ store, tools: [receiver], env: noBrowser })
    const dashboard = await world.dashboard()
    const projects = await dashboard.get('/api/projects')
    mine = await makeIds(world.api, dashboard, projects.body.data[0].id, receiver)
    const other = await dashboard.post('/api/projects', { name: 'Another project' })
    const key = await dashboard.post(`/api/projects/${other.body.id}/keys`, { name: 'first' })
    const neighbour = world.as(key.body.key)
    foreign = await makeIds(neighbour, dashboard, other.body.id, receiver)
    await Promise.all([ended(world.api, mine), ended(neighbour, foreign)])
    apis = { secret_key: world.api, dashboard, client_token: await clientOf(mine.tenant_id, 'ada') }
    neighbours = {
      "the project's own": mine.session_id ?? '',
      "another user's": await (await clientOf(mine.tenant_id, 'eve')).createSession(),
      "another tenant's": await (await clientOf(await newTenant(), 'ada')).createSession(),
    }
    before = await settledCounts()
  })
  afterAll(async () => {
    await world.stop()
    await receiver.close()
  })

  const apiFor = ({ access }: Operation): Api => apis[access.kinds[0] ?? ''] ?? new Api(world.url)

  const send = ({ operation, ids, api = apiFor(operation), body, extra = {} }: Asked): Promise<Answered> => {
    const { method } = operation
    const sent = body ?? (operation.body === null ? undefined : sampleOf(operation.body.json))
    const path = target(operation, ids)
    return sent === undefined ? api.get(path, { method, ...extra }) : api.post(path, sent, { method, ...extra })
  }

  const refused = async (asked: Asked) => refusalIn(await send(asked))

  const checked = (title: string, check: () => Promise<void>): Case => ({ title, check })

  /** A request that is refused so. */
  const refuses = (title: string, asked: Asked, expected: object): Case =>
    checked(title, async () => expect(await refused(asked)).toMatchObject(expected))

  const withoutCredential = (operation: Operation): readonly Case[] =>
    unknownCredentials.map(([title, headers]) =>
      refuses(
        `asks for a credential: ${title}`,
        { operation, ids: mine, api: new Api(world.url, headers) },
        saying(operation, 'authentication_required'),
      ),
    )

  const ofOtherKinds = (operation: Operation): readonly Case[] => {
    const { kinds } = operation.access
    const others = ['secret_key', 'client_token', 'dashboard'].filter((kind) => !kinds.some((each) => each === kind))
    const code = kinds.join() === 'secret_key' ? 'secret_key_required' : 'forbidden'
    return others.map((kind) => {
      const api = apis[kind] ?? new Api(world.url)
      const headers = kind === 'dashboard' ? { 'x-project-id': mine.project_id ?? '' } : {}
      const asked = { operation, ids: mine, api, extra: { headers } }
      return refuses(`refuses a ${kind}`, asked, saying(operation, code))
    })
  }

  const underUnknownIds = (operation: Operation): readonly Case[] =>
    naming(operation).flatMap((name) =>
      [`${mine[name]?.split('_')[0]}_${'0'.repeat(26)}`, 'nonsense', '%00', "'--"].map((id) =>
        refuses(
          `finds nothing under an unknown ${name}: ${id}`,
          { operation, ids: { ...mine, [name]: id } },
          saying(operation, missing(name)),
        ),
      ),
    )

  /** All projects of the one organisation are its members' own. */
  const underForeignIds = (operation: Operation): readonly Case[] =>
    naming(operation)
      .filter((name) => !ofTheHouse.includes(name))
      .map((name) =>
        refuses(
          `finds nothing under another project's ${name}`,
          { operation, ids: { ...mine, [name]: foreign[name] ?? '' } },
          saying(operation, missing(name)),
        ),
      )

  const ofNeighbours = (operation: Operation): readonly Case[] =>
    Object.entries(neighbours).map(([whose, session_id]) => {
      const asked = { operation, ids: { ...mine, session_id }, api: apis.client_token ?? world.api }
      const title = `shows a client token nothing of ${whose} session`
      return refuses(title, asked, { status: 404, code: 'not_found' })
    })

  const ofBodies = (operation: Operation): readonly Case[] => {
    const asked = { operation, ids: mine }
    const wrong = (mutations: readonly Mutation[], code: ErrorCode): readonly Case[] =>
      mutations.map(({ param, body }) =>
        refuses(`${code} ${param}`, { ...asked, body }, saying(operation, code, param)),
      )
    return [
      refuses('refuses a body that is no JSON', { ...asked, body: '{"a":' }, saying(operation, 'malformed_json')),
      checked('refuses a body that is too large as soon as its length is said', async () => {
        const sent = { method: operation.method, contentLength: operation.maxBodyBytes + 1 }
        const answered = await apiFor(operation).announce(target(operation, mine), sent)
        expect(refusalIn(answered)).toMatchObject(saying(operation, 'body_too_large'))
      }),
      ...wrong(mutated(operation, withoutRequired), 'missing_field'),
      ...wrong(mutated(operation, withWrongTypes), 'invalid_field'),
      ...(operation.unknownFields === 'refuse' ? wrong(mutated(operation, withUnknown), 'unknown_field') : []),
    ]
  }

  const casesOf = (operation: Operation): readonly Case[] => [
    ...(guarded.includes(operation) ? [...withoutCredential(operation), ...ofOtherKinds(operation)] : []),
    ...(withParams.includes(operation) ? [...underUnknownIds(operation), ...underForeignIds(operation)] : []),
    ...(ofClients.includes(operation) ? ofNeighbours(operation) : []),
    ...(withBody.includes(operation) ? ofBodies(operation) : []),
  ]

  it.each([...new Set([...guarded, ...withBody])])(
    '$id refuses who may not, what is not there, and what is not well formed',
    async (operation) => {
      const cases = casesOf(operation)
      expect(cases).not.toEqual([])
      expect(await failuresOf(cases)).toEqual([])
    },
  )

  it('reads no more of a body than its operation takes', async () => {
    const operation = operations['sessions.create']
    const body = JSON.stringify({ text: 'x'.repeat(operation.maxBodyBytes) })
    expect(await refused({ operation, ids: mine, body })).toMatchObject(saying(operation, 'body_too_large'))
  })

  it('has written nothing for any of these requests', async () => {
    expect(await settledCounts()).toEqual(before)
  })
})
