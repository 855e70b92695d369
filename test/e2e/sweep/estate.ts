import { randomBytes } from 'node:crypto'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from '../api.ts'
import { type Populated, populate } from '../tenant-life.ts'
import type { ToolServer } from '../tool-server.ts'
import type { World } from '../world.ts'
import { answerSchema, bodyFor, prefixesByName } from './declared-places.ts'

/** A creating request that had an Idempotency-Key. */
export interface Keyed {
  readonly operation: Operation
  readonly path: string
  readonly body: object
  readonly key: string
}

/** One tenant of one project, with one of everything that the declared operations make. */
export interface Estate extends Populated {
  readonly project: string
  /** Stands in texts of everything that the tenant has. */
  readonly mark: string
  readonly api: Api
  readonly dashboard: Api
  /** What it made, by the prefix of its ids. */
  readonly made: ReadonlyMap<string, readonly string[]>
  /** Ids without a prefix, such as those that callers choose, by the name of their place. */
  readonly named: Readonly<Record<string, string>>
  readonly keyed: readonly Keyed[]
}

/** Who an estate is made for. */
interface Maker {
  readonly world: World
  readonly tool: ToolServer
  readonly api: Api
  readonly dashboard: Api
  readonly project: string
  readonly operations: readonly Operation[]
}

const idPattern = /\b([a-z]{2,4})_[0-9a-z]{26}\b/g

/** Every id in an answer with its prefix. */
export const idsIn = (value: unknown): readonly (readonly [prefix: string, id: string])[] =>
  [...JSON.stringify(value ?? null).matchAll(idPattern)].map(([id, prefix = '']) => [prefix, id] as const)

/** Ids of no tenant: of the installation, its members, requests and events of logs. */
const common = new Set(['org', 'usr', 'req', 'evt', 'prj', 'ds'])

/** Makes a tenant with one of everything: by hand what has a life of its own, all else from the declarations. */
export const makeEstate = async (maker: Maker, name: string): Promise<Estate> => {
  const { world, tool, api, dashboard, project } = maker
  const mark = `mark-${name}-${randomBytes(6).toString('hex')}`
  const populated = await populate({ api, as: (token) => world.as(token) }, tool, `${name}-${mark}`, mark)
  const made = new Map<string, string[]>()
  const keep = (id: string): void => {
    const [prefix = ''] = id.split('_')
    const known = made.get(prefix) ?? []
    if (!common.has(prefix) && !known.includes(id)) made.set(prefix, [...known, id])
  }
  const { tenant, agent, installation, sessions, runs, action } = populated
  for (const id of [tenant, agent, installation, ...sessions, ...runs, action]) keep(id)
  for (const path of [`/v1/agents/${agent}/versions`, '/v1/webhook-deliveries', '/v1/usage/events'])
    for (const [, id] of idsIn((await api.get(path)).body)) keep(id)
  const chosen = await chosenNames(api, { tenant, mark })
  const response = await api.post('/v1/responses', { model: 'simulated-1', input: `say ${mark}` })
  const custom = { name: mark, baseUrl: tool.url, format: 'openai', models: [{ name: mark, modelId: chosen.model }] }
  const provider = await dashboard.post(`/api/projects/${project}/providers`, custom)
  const server = { name: mark, provider: mark, base_url: tool.url, api_key: 'key' }
  const connection = await api.post('/v1/provider-connections', server)
  const memory = await api.post('/v1/memory/write', { userId: 'ada', content: mark })
  const ofServices = await Promise.all([
    api.post('/v1/connections', { connector: 'stripe', name: mark, api_key: `key-${mark}`, tenant_id: tenant }),
    api.post('/v1/web/crawls', { seeds: [`https://${mark}.invalid/`] }),
    api.post('/api/v1/web/takedown', {
      ...{ urls: [`https://${mark}.invalid/`], basis: 'privacy', requesterName: mark },
      ...{ requesterEmail: 'ada@example.com', statement: mark },
    }),
  ])
  for (const { body } of [response, connection, memory, ...ofServices]) keep(body.id)
  const named = { ...chosen, provider_id: provider.body.provider.id }
  const estate = { ...populated, project, mark, api, dashboard, made, named, keyed: [] }
  const keyed = await makeDeclared(maker, estate, keep)
  return { ...estate, keyed }
}

/** Ids that callers choose. Others may choose the same, so they do not carry the mark. */
const chosenNames = async (
  api: Api,
  { tenant, mark }: { readonly tenant: string; readonly mark: string },
): Promise<Readonly<Record<string, string>>> => {
  const ending = randomBytes(6).toString('hex')
  const external_user_id = `user-${ending}`
  const user = { display_name: mark, metadata: { mark } }
  await api.fetch(`/v1/tenants/${tenant}/users/${external_user_id}`, user, { method: 'PUT' })
  const request_id = `request-${ending}`
  const headers = { 'x-request-id': request_id, 'x-tenant-id': tenant }
  await api.post('/v1/embeddings', { model: 'simulated-1', input: mark }, { headers })
  return { external_user_id, version: '1.0.0', request_id, model: `model-${ending}` }
}

/** The id that stands at a place of this name; where the estate has none, one of nothing. */
export const ownId = (
  { made, named, project }: Pick<Estate, 'made' | 'named' | 'project'>,
  prefixes: ReadonlyMap<string, string>,
  name: string,
): string => {
  if (name === 'project_id') return project
  const bare = name.replace(/_ids$/, '_id')
  const prefix = prefixes.get(bare) ?? prefixes.get(name) ?? byHabit[bare]
  return named[bare] ?? made.get(prefix ?? '')?.[0] ?? `${prefix ?? 'xyz'}_${'0'.repeat(26)}`
}

/** Names that the declared answers do not say the prefix of. */
export const byHabit: Readonly<Record<string, string>> = {
  subject_id: 'ten',
  resource_id: 'ten',
  previous_response_id: 'resp',
  response_id: 'resp',
  parent_run_id: 'run',
  actor_id: 'ses',
}

/** Operations that make a resource, and nothing that has been made already. */
const makers = (operations: readonly Operation[]): readonly Operation[] =>
  operations.filter(
    (operation) =>
      operation.method === 'POST' &&
      answerSchema(operation).properties?.id?.['x-id'] !== undefined &&
      !operation.paths[0].endsWith('}') &&
      !operation.params.includes('session_id') &&
      operation.access.kinds.some((kind) => kind === 'secret_key' || kind === 'dashboard'),
  )

const makeDeclared = async (maker: Maker, estate: Estate, keep: (id: string) => void): Promise<readonly Keyed[]> => {
  const prefixes = prefixesByName(maker.operations)
  const keyed: Keyed[] = []
  for (const operation of makers(maker.operations)) {
    const prefix = answerSchema(operation).properties?.id?.['x-id'] ?? ''
    if (common.has(prefix) || lifeOfItsOwn.some((end) => operation.id.endsWith(end))) continue
    const idFor = (name: string) => ownId(estate, prefixes, name)
    const path = operation.paths[0].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(idFor(name)))
    const body = { ...bodyFor(operation, null, idFor), ...marked(operation, estate.mark) }
    const key = `key-${estate.mark}-${operation.id}`
    const api = operation.access.kinds.includes('secret_key') ? estate.api : estate.dashboard
    const owner = operation.ofTenants === null ? {} : { 'x-tenant-id': estate.tenant }
    const answer = await api.post(path, body, { headers: { 'idempotency-key': key, ...owner } })
    if (answer.status >= 300) continue
    keep(answer.body.id)
    keyed.push({ operation, path, body, key })
  }
  return keyed
}

/** Transitions that end what others need. */
const lifeOfItsOwn = [
  '.retire',
  '.deprecate',
  '.rollback',
  '.cancel',
  '.reject',
  '.skip',
  '.discard',
  '.rotate',
  '.review',
]

const marked = ({ body }: Operation, mark: string): object => {
  const { properties = {} } = body?.json ?? {}
  const fields = ['name', 'description', 'content', 'text'].filter((name) => properties[name]?.type === 'string')
  return Object.fromEntries(fields.map((name) => [name, mark]))
}
