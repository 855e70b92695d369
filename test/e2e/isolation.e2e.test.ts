import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from './api.ts'
import { noBrowser } from './browser/no-browser.ts'
import { type Populated, populate } from './tenant-life.ts'
import { startToolServer, type ToolServer } from './tool-server.ts'
import { stores, World } from './world.ts'

/*
 * Two projects, and two tenants in each, under the same names: whatever one asks for, it is shown nothing of another.
 * What is read comes from the declarations, so an operation that is added is held to it as well. Ids in paths are
 * tried by refusals.e2e.test.ts.
 */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const reading = guarded.filter(({ id, method }) => method === 'GET' || id === 'tenants.export')
const byId = (names: readonly string[]) => names.filter((name) => /_ids?$/.test(name) && name !== 'external_id')
const filtered = reading.flatMap((operation) =>
  byId(Object.keys(operation.query)).map((name) => ({ id: operation.id, operation, name })),
)
const naming = guarded.flatMap((operation) =>
  byId(Object.keys(operation.body?.json.properties ?? {})).map((name) => ({ id: operation.id, operation, name })),
)

/** Ids by the names that parameters, queries and bodies have for them. */
type Ids = Readonly<Record<string, string>>

interface Tenancy extends Populated {
  readonly mark: string
  readonly ids: Ids
}

/** One project, with two tenants that the other project has under the same names. */
interface Side {
  readonly api: Api
  readonly dashboard: Api
  readonly project: string
  readonly acme: Tenancy
  readonly globex: Tenancy
}

/** What does not say whose it is: chosen by the caller, of the organisation, or not there yet. */
const shared = [
  'client_id',
  'connector_id',
  'external_user_id',
  'path',
  'index',
  'version',
  'tool_name',
  'project_id',
  'member_id',
  'test_connection_ids',
  'user_id',
]

/** Bodies in which every id is the sender's own, and which are taken then; `null`: what they do cannot be done twice. */
const bodies: Readonly<Record<string, ((ids: Ids) => object) | null>> = {
  'sessions.create': ({ agent_id }) => ({ agent_id }),
  'sessions.approve': null,
  'sessions.reject': null,
  'actions.create': ({ tenant_id, run_id, session_id }) => ({
    tool: 'x',
    arguments: {},
    tenant_id,
    run_id,
    session_id,
  }),
  'runs.create': ({ tenant_id, installation_id }) => ({ tenant_id, installation_id, input: { prompt: 'hi' } }),
  'runs.delegate': null,
  'installations.create': ({ tenant_id, agent_id, rate_plan_id }) => ({ tenant_id, agent_id, rate_plan_id }),
  'installations.update': ({ rate_plan_id }) => ({ rate_plan_id }),
  'custom_providers.test': ({ provider_id }) => ({ provider_id }),
  'responses.create': ({ response_id }) => ({ model: 'simulated-1', input: 'hi', previous_response_id: response_id }),
  'responses.input_tokens': ({ response_id }) => ({
    ...{ model: 'simulated-1', input: 'hi', previous_response_id: response_id },
  }),
  'responses.compact': ({ response_id }) => ({
    ...{ model: 'simulated-1', input: 'hi', previous_response_id: response_id },
  }),
  'knowledge_bases.create': ({ tenant_id }) => ({ name: 'Docs', tenant_id }),
  'connections.create': ({ tenant_id }) => ({ connector: 'stripe', api_key: 'key-0123456789', tenant_id }),
  'mcp_servers.create': ({ tenant_id }) => ({ name: 'Tools', url: 'https://tools.invalid/mcp', tenant_id }),
  'knowledge_grants.create': ({ subject_id }) => ({ subject_type: 'tenant', subject_id }),
  'skill_imports.create': ({ skill_id }) => ({ skill_id, text: 'Be brief.' }),
  'limits.create': ({ subject_id }) => ({ subject: 'tenant', subject_id, requests_per_minute: 9_999 }),
  'client_tokens.create': ({ tenant_id, session_id, installation_id }) => ({
    tenant_id,
    external_user_id: 'ada',
    session_id,
    installation_ids: [installation_id],
  }),
}

/** What makes the resources of one project. */
interface Maker {
  readonly world: World
  readonly api: Api
  readonly dashboard: Api
  readonly tool: ToolServer
  readonly project: string
}

const made = async (api: Api, path: string, body: object): Promise<string> => {
  const { status, body: answer } = await api.post(path, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer.id
}

/** Provider connections, custom providers and their models. */
const providersOf = async (api: Api, dashboard: Api, { url }: ToolServer, project: string, mark: string) => {
  const server = { name: mark, provider: mark, base_url: url, api_key: 'key' }
  const connection_id = await made(api, '/v1/provider-connections', server)
  const sync_id = await made(api, `/v1/provider-connections/${connection_id}/model-syncs`, {})
  const custom = { name: mark, baseUrl: url, format: 'openai', models: [{ name: mark, modelId: `model-${mark}` }] }
  const { body } = await dashboard.post(`/api/projects/${project}/providers`, custom)
  return { connection_id, sync_id, provider_id: body.provider.id, model: `model-${mark}` }
}

const tenancy = async ({ world, api, dashboard, tool, project }: Maker, name: string): Promise<Tenancy> => {
  const mark = `mark-of-${name}-in-${project}`
  const populated = await populate({ api, as: (token) => world.as(token) }, tool, name, mark)
  const { tenant, agent, installation, sessions, runs, action } = populated
  const providers = await providersOf(api, dashboard, tool, project, mark)
  const plan = await made(api, '/v1/rate-plans', { name: `plan ${mark}`, markup_percent: '10' })
  const response_id = await made(api, '/v1/responses', { model: 'simulated-1', input: `say ${mark}` })
  const request_id = `request-${mark}`
  const embedding = { model: 'simulated-1', input: mark }
  await api.post('/v1/embeddings', embedding, { headers: { 'x-request-id': request_id, 'x-tenant-id': tenant } })
  const ids: Ids = {
    request_id,
    limit_id: await made(api, '/v1/limits', { subject: 'tenant', subject_id: tenant, requests_per_minute: 9_999 }),
    subject_id: tenant,
    response_id,
    previous_response_id: response_id,
    tenant_id: tenant,
    agent_id: agent,
    installation_id: installation,
    session_id: sessions[0] ?? '',
    actor_id: sessions[0] ?? '',
    run_id: runs[0] ?? '',
    action_id: action,
    rate_plan_id: plan,
    resource_id: tenant,
    external_user_id: 'ada',
    version: '1.0.0',
    project_id: project,
    ...providers,
    ...(await knowledgeOf(api, tenant, mark)),
    ...(await skillsOf(api, mark)),
    ...(await conversationOf(api, mark)),
    server_id: await made(api, '/v1/mcp/servers', { name: mark, url: tool.url, tenant_id: tenant }),
    tool_name: 'send',
    tool_connection_id: await made(api, '/v1/connections', { connector: 'stripe', name: mark, tenant_id: tenant }),
    connector_id: 'github',
    path: 'SKILL.md',
    jobId: await made(api.with({ 'x-tenant-id': tenant }), '/v1/web/browse', { url: `https://${mark}.invalid/` }),
    index: '0',
    crawl_id: await made(api, '/v1/web/crawls', { seeds: [`https://${mark}.invalid/`] }),
    takedown_id: await made(api, '/v1/web/takedown', {
      ...{ urls: ['https://site.example/'], basis: 'other', requesterName: mark, requesterEmail: 'ada@example.com' },
      statement: `This page is about ${mark}.`,
    }),
    memory_id: await made(api, '/v1/memory/write', { userId: 'ada', content: mark }),
  }
  return { ...populated, mark, ids: { ...ids, ...(await foundIds(api, ids)) } }
}

/** A knowledge base of the tenant, with one of everything that it has. */
const knowledgeOf = async (api: Api, tenant: string, mark: string): Promise<Ids> => {
  const knowledge_base_id = await made(api, '/v1/knowledge-bases', { name: mark, tenant_id: tenant })
  const path = `/v1/knowledge-bases/${knowledge_base_id}`
  return {
    knowledge_base_id,
    source_id: await made(api, `${path}/sources`, { text: mark }),
    grant_id: await made(api, `${path}/grants`, { subject_type: 'tenant', subject_id: tenant }),
    recall_set_id: await made(api, `${path}/recall-sets`, { name: mark, questions: [{ question: mark, text: mark }] }),
  }
}

/** A conversation with one item. */
const conversationOf = async (api: Api, mark: string): Promise<Ids> => {
  const conversation_id = await made(api, '/v1/conversations', { metadata: { mark } })
  const items = [{ type: 'message', role: 'user', content: mark }]
  const { body } = await api.post(`/v1/conversations/${conversation_id}/items`, { items })
  return { conversation_id, item_id: body.data[0].id }
}

/** A skill with a version, and an import. */
const skillsOf = async (api: Api, mark: string): Promise<Ids> => {
  const skill_id = await made(api, '/v1/skills', { name: mark, description: mark })
  await made(api, `/v1/skills/${skill_id}/versions`, { version: '1.0.0', content: mark })
  return { skill_id, import_id: await made(api, '/v1/skill-imports', { text: mark }) }
}

/** Ids that only lists tell. */
const foundIds = async (api: Api, { agent_id }: Ids): Promise<Ids> => {
  const first = async (path: string): Promise<string> => (await api.get(`${path}?limit=1`)).body.data[0].id
  return {
    agent_version_id: await first(`/v1/agents/${agent_id}/versions`),
    webhook_id: await first('/v1/webhooks'),
    delivery_id: await first('/v1/webhook-deliveries'),
  }
}

const sideOf = async (world: World, tool: ToolServer, dashboard: Api, project: string): Promise<Side> => {
  const created = await dashboard.post(`/api/projects/${project}/keys`, { name: 'key' })
  const api = world.as(created.body.key)
  const maker = { world, api, dashboard, tool, project }
  const acme = await tenancy(maker, 'acme')
  const globex = await tenancy(maker, 'globex')
  return { api, dashboard, project, acme, globex }
}

/** All that tells one tenant from another. */
const signsOf = ({ mark, ids, sessions, runs }: Tenancy): readonly string[] => [
  mark,
  ...sessions,
  ...runs,
  ...Object.entries(ids).flatMap(([name, id]) => (shared.includes(name) ? [] : [id])),
]

/** Which of the signs a text shows. */
const signsIn = (text: string, signs: readonly string[]): readonly string[] =>
  signs.filter((sign) => text.includes(sign))

describe.each(stores)('on $store', { timeout: 240_000 }, ({ store }) => {
  let world: World
  let tool: ToolServer
  let mine: Side
  let theirs: Side

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool], env: noBrowser })
    const dashboard = await world.dashboard()
    const { body } = await dashboard.get('/api/projects')
    const other = await made(dashboard, '/api/projects', { name: 'Another' })
    mine = await sideOf(world, tool, dashboard, body.data[0].id)
    theirs = await sideOf(world, tool, dashboard, other)
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const pathOf = ({ paths }: Operation, ids: Ids): string =>
    paths[0].replace(/\{(\w+)\}/g, (_, name: string) => {
      const id = ids[name]
      if (id === undefined) throw new Error(`say in tenancy() how a ${name} is made`)
      return encodeURIComponent(id)
    })

  /** The whole answer as text; of a stream without an end all that the log has: one turn, which is over. */
  const textOf = async (api: Api, operation: Operation, path: string, accept = '*/*'): Promise<string> => {
    const { method, answer } = operation
    const headers = { accept, 'x-project-id': mine.project }
    const enough = new AbortController()
    const response = await api.fetch(path, undefined, { method, headers }, enough.signal)
    const isEndless = response.ok && answer.kind === 'events' && answer.resumable
    let text = ''
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString()
      if (isEndless && text.includes('turn.completed') && text.endsWith('\n\n')) break
    }
    enough.abort()
    return text
  }

  const apisFor = ({ access }: Operation): readonly Api[] => [
    ...(access.kinds.includes('secret_key') ? [mine.api] : []),
    ...(access.kinds.includes('dashboard') ? [mine.dashboard] : []),
  ]

  const withoutParams = (operation: Operation): boolean =>
    operation.params.every((name) => mine.acme.ids[name] !== undefined)

  it.each(
    reading.filter(
      (operation) =>
        !operation.params.some((name) => ['key_id', 'member_id', 'agent_key_id', 'node_id', 'stuck_id'].includes(name)),
    ),
  )('$id shows nothing of another project', async (operation) => {
    const foreign = [...signsOf(theirs.acme), ...signsOf(theirs.globex)]
    expect(withoutParams(operation)).toBe(true)
    for (const api of apisFor(operation)) {
      for (const accept of ['*/*', 'text/event-stream', 'application/x-ndjson']) {
        const text = await textOf(api, operation, pathOf(operation, mine.acme.ids), accept)
        expect(signsIn(text, foreign)).toEqual([])
      }
    }
  })

  const ofTenants = reading.filter(({ params }) =>
    params.some((name) => ['tenant_id', 'installation_id', 'run_id', 'session_id', 'action_id'].includes(name)),
  )
  it.each(ofTenants)('$id of one tenant shows nothing of another', async (operation) => {
    for (const api of apisFor(operation)) {
      const text = await textOf(api, operation, pathOf(operation, mine.acme.ids))
      expect(text).toContain(
        operation.id.startsWith('tenant_users') ? 'ada' : Object.values(mine.acme.ids).find((id) => text.includes(id)),
      )
      const foreign = signsOf(mine.globex).filter(
        (each) => each !== mine.globex.ids.webhook_id && each !== mine.globex.ids.delivery_id,
      )
      expect(signsIn(text, foreign)).toEqual([])
    }
  })

  it.each(filtered.filter(({ name }) => !shared.includes(name)))(
    '$id finds nothing by another project’s $name',
    async ({ operation, name }) => {
      const id = theirs.acme.ids[name] ?? theirs.acme.tenant
      for (const api of apisFor(operation)) {
        const path = `${pathOf(operation, mine.acme.ids)}?${name}=${id}`
        const text = await textOf(api, operation, path)
        const foreign = signsOf(theirs.acme).filter((each) => each !== id)
        expect(signsIn(text, foreign)).toEqual([])
        if (text.startsWith('{') && JSON.parse(text).data !== undefined) expect(JSON.parse(text).data).toEqual([])
      }
    },
  )

  it('has a body for every operation that names something by its id', () => {
    const without = naming.filter(({ id, name }) => bodies[id] === undefined && !shared.includes(name))
    expect(without.map(({ id }) => id)).toEqual([])
  })

  it.each(naming.filter(({ name }) => !shared.includes(name)))(
    '$id takes no $name of another project',
    async ({ id, operation, name }) => {
      const bodyOf = bodies[id]
      const { method, access } = operation
      const api = access.kinds.includes('secret_key') ? mine.api : mine.dashboard
      const path = pathOf(operation, mine.acme.ids)
      const foreign = theirs.acme.ids[name.replace(/_ids$/, '_id')] ?? ''
      if (bodyOf === null || bodyOf === undefined) {
        const body =
          id === 'runs.delegate'
            ? { agent_version_id: mine.acme.ids.agent_version_id, input: {}, [name]: foreign }
            : { [name]: foreign }
        expect((await api.post(path, body, { method })).status).toBeGreaterThanOrEqual(400)
        return
      }
      const own = bodyOf(mine.acme.ids)
      const control = await api.post(path, own, { method })
      expect(control.status, JSON.stringify(control.body)).toBeLessThan(300)
      const value = name.endsWith('_ids') ? [foreign] : foreign
      const refused = await api.post(path, { ...own, [name]: value }, { method })
      expect([404, 422]).toContain(refused.status)
      const others = signsOf(theirs.acme).filter((each) => each !== foreign)
      expect(signsIn(JSON.stringify(refused.body), others)).toEqual([])
    },
  )

  const ofClients = reading.filter(({ access }) => access.kinds.includes('client_token'))
  it.each(ofClients)(
    '$id shows the token of one user nothing of another user, tenant or project',
    async (operation) => {
      const client = world.as(mine.acme.token)
      const [own = '', _waits, ofBob = ''] = mine.acme.sessions
      const foreign = [ofBob, ...[mine.globex, theirs.acme, theirs.globex].flatMap(signsOf)]
      const text = await textOf(client, operation, pathOf(operation, { ...mine.acme.ids, session_id: own }))
      expect(signsIn(text, foreign)).toEqual([])
      for (const session of [ofBob, mine.globex.sessions[0] ?? '', theirs.acme.sessions[0] ?? '']) {
        if (!operation.params.includes('session_id')) continue
        const answer = await client.get(pathOf(operation, { ...mine.acme.ids, session_id: session }), {
          method: operation.method,
        })
        expect(answer.status).toBe(404)
      }
    },
  )
})
