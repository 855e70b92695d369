import { randomBytes } from 'node:crypto'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from '../api.ts'
import { type Populated, populate } from '../tenant-life.ts'
import type { ToolServer } from '../tool-server.ts'
import { answerSchema, bodyFor, prefixesByName } from './declared-places.ts'
import type { Ids, Site } from './estate/estate-part.ts'
import { declaredEstate, partFileOf } from './estate/parts.ts'

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))

/** Prefix of the resource that a parameter or field refers to, by its name. */
export const prefixes = prefixesByName(declared)

/** Inputs for creating an estate: one project, its credentials, and a server that accepts calls. */
export interface Ground {
  readonly api: Api
  readonly dashboard: Api
  readonly project: string
  readonly tool: Pick<ToolServer, 'url'>
  /** The API with another bearer token. */
  as(token: string): Api
}

/** A creating request that had an Idempotency-Key. */
export interface Keyed {
  readonly operation: Operation
  readonly path: string
  readonly body: object
  readonly key: string
}

const idPattern = /\b([a-z]{2,4})_[0-9a-z]{26}\b/g

/** Every id in an answer with its prefix. */
export const idsIn = (value: unknown): readonly (readonly [prefix: string, id: string])[] =>
  [...JSON.stringify(value ?? null).matchAll(idPattern)].map(([id, prefix = '']) => [prefix, id] as const)

/** Prefixes of ids that belong to no tenant: of the installation, members, requests and log events. */
const ofNoTenant = new Set(['org', 'usr', 'req', 'evt', 'prj', 'ds', 'oic'])

/** Transitions that end a resource which others need. */
const lifeOfItsOwn = [
  ...['.retire', '.deprecate', '.rollback', '.cancel', '.reject'],
  ...['.skip', '.discard', '.rotate', '.review'],
]

/** Operations that create a new resource. */
const makers = guarded.filter(
  (operation) =>
    operation.method === 'POST' &&
    !ofNoTenant.has(prefixOfAnswer(operation) || 'org') &&
    !operation.paths[0].endsWith('}') &&
    !operation.params.includes('session_id') &&
    !lifeOfItsOwn.some((end) => operation.id.endsWith(end)) &&
    operation.access.kinds.some((kind) => kind === 'secret_key' || kind === 'dashboard'),
)

/** The prefix of the id in the answer of an operation; '' when it has none. */
export function prefixOfAnswer(operation: Operation): string {
  return answerSchema(operation).properties?.id?.['x-id'] ?? ''
}

/**
 * One tenant of one project with one of every resource that the declared operations create. Resources with a lifecycle
 * or with chosen names come from the parts of the capabilities (sweep/estate/), all others from the declarations. Every
 * sweep reads its ids and bodies here.
 */
export class Estate implements Site {
  readonly project: string
  readonly mark: string
  readonly api: Api
  readonly dashboard: Api
  readonly hook: string
  readonly populated: Populated
  readonly #ids = new Map<string, string>()
  readonly #made = new Map<string, string[]>()
  readonly #requestCounts = new Map<string, number>()
  readonly #keyed: Keyed[] = []

  private constructor({ project, api, dashboard, tool }: Ground, mark: string, populated: Populated) {
    this.project = project
    this.api = api
    this.dashboard = dashboard
    this.hook = tool.url
    this.mark = mark
    this.populated = populated
  }

  /** @param name the tenant's external id, which a tenant of another project may also have. */
  static async make(ground: Ground, name: string): Promise<Estate> {
    const mark = `mark-${name}-${randomBytes(6).toString('hex')}`
    const estate = new Estate(ground, mark, await populate(ground, ground.tool, name, mark))
    const { tenant, agent, installation, sessions, runs, action } = estate.populated
    for (const id of [tenant, agent, installation, ...sessions, ...runs, action]) estate.keep(id)
    const { data } = (await estate.api.get(`/v1/usage/events?tenant_id=${tenant}`)).body
    for (const { id } of data) estate.keep(id)
    for (const make of declaredEstate.makes) estate.#name(await make(estate))
    for (const operation of makers) await estate.#declared(operation)
    return estate
  }

  /** The same estate with other ids for these names. */
  with(ids: Ids): Estate {
    const other = new Estate({ ...this, tool: { url: this.hook }, as: () => this.api }, this.mark, this.populated)
    for (const [prefix, made] of this.#made) other.#made.set(prefix, made)
    for (const [name, id] of [...this.#ids, ...Object.entries(ids)]) other.#ids.set(name, id)
    return other
  }

  get tenant(): string {
    return this.populated.tenant
  }

  /** Ids of everything that it created, by prefix. */
  get everything(): ReadonlyMap<string, readonly string[]> {
    return this.#made
  }

  /** Ids and chosen texts without a prefix, by the name of their place, if they differ between estates. */
  get named(): Ids {
    const own = [...this.#ids].filter(([name, id]) => !declaredEstate.common.has(name) && idsIn(id).length === 0)
    return Object.fromEntries(own.filter(([name]) => name !== 'index'))
  }

  /** Requests that created something with an Idempotency-Key. */
  get keyed(): readonly Keyed[] {
    return this.#keyed
  }

  /** All ids and texts that distinguish this tenant from another. */
  get signs(): readonly string[] {
    const { chosen, common } = declaredEstate
    const named = [...this.#ids].filter(([name]) => !chosen.has(name) && !common.has(name) && !(name in absent))
    return [...new Set([this.mark, ...named.map(([, id]) => id), ...[...this.#made.values()].flat()])]
  }

  /** The id for places of this name; undefined when no such resource was created. */
  find(name: string): string | undefined {
    const bare = name.replace(/_ids$/, '_id')
    const prefix = this.prefixOf(bare) ?? prefixes.get(name)
    return this.#ids.get(bare) ?? this.#made.get(prefix ?? '')?.[0]
  }

  /** As `find`, or an id that does not exist. */
  idOr(name: string): string {
    const prefix = this.prefixOf(name.replace(/_ids$/, '_id')) ?? 'xyz'
    return this.find(name) ?? `${prefix}_${'0'.repeat(26)}`
  }

  // arrow functions, since parts destructure them
  readonly id = (name: string): string => {
    const id = this.find(name)
    if (id === undefined) throw new Error(`nothing named ${name} was made: ${where(name)}`)
    return id
  }

  /** The prefix of ids at places of this name: from the declared answers, or from its id here. */
  prefixOf(name: string): string | undefined {
    return prefixes.get(name) ?? idsIn(this.#ids.get(name))[0]?.[0]
  }

  /** The path of an operation with own ids. @throws {Error} when one is missing, with the file that should create it. */
  pathOf({ paths }: Operation): string {
    return paths[0].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(this.id(name)))
  }

  /** A valid body of an operation with own ids, different at each call. */
  async bodyOf(operation: Operation): Promise<Record<string, unknown>> {
    const n = (this.#requestCounts.get(operation.id) ?? -1) + 1
    this.#requestCounts.set(operation.id, n)
    const make = declaredEstate.bodies[operation.id] ?? declaredEstate.once[operation.id]
    if (make !== undefined) return Object(await make(this, n))
    return { ...bodyFor(operation, null, (name) => this.idOr(name)), ...marked(operation, `${this.mark} ${n}`) }
  }

  readonly all = (name: string): readonly string[] => this.#made.get(this.prefixOf(name) ?? '') ?? []

  readonly made = async (path: string, body: object, api: Api = this.api): Promise<string> => {
    const { status, body: answer } = await api.post(path, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
    this.keep(answer.id)
    return answer.id
  }

  /** Adds the id of a resource that was created elsewhere. An id without a prefix is ignored. */
  keep(id: unknown): void {
    if (typeof id !== 'string') return
    const prefix = idsIn(id)[0]?.[0] ?? ''
    const known = this.#made.get(prefix) ?? []
    if (prefix !== '' && !ofNoTenant.has(prefix) && !known.includes(id)) this.#made.set(prefix, [...known, id])
  }

  #name(ids: Ids): void {
    for (const [name, id] of Object.entries({ ...absentIds, ...ids })) {
      this.#ids.set(name, id)
      if (!(name in absent)) this.keep(id)
    }
  }

  async #declared(operation: Operation): Promise<void> {
    const path = operation.paths[0].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(this.idOr(name)))
    const body = await this.bodyOf(operation)
    const key = `key-${this.mark}-${operation.id}`
    const api = operation.access.kinds.includes('secret_key') ? this.api : this.dashboard
    const owner = operation.ofTenants === null ? {} : { 'x-tenant-id': this.tenant }
    const answer = await api.post(path, body, { headers: { 'idempotency-key': key, ...owner } })
    if (answer.status >= 300) return
    this.keep(answer.body.id)
    this.#keyed.push({ operation, path, body, key })
  }
}

const { absent } = declaredEstate
const absentIds: Ids = Object.fromEntries(
  Object.entries(absent).map(([name, prefix]) => [name, `${prefix}_${'0'.repeat(25)}1`]),
)

/** A hint at the file that should create the resource of a name. */
const where = (name: string): string => {
  const operation = declared.find(({ params, body }) => params.includes(name) || name in (body?.json.properties ?? {}))
  return operation === undefined ? 'no operation has such a place' : `say in ${partFileOf(operation)} how it is made`
}

const marked = ({ body }: Operation, text: string): object => {
  const { properties = {} } = body?.json ?? {}
  const fields = ['name', 'description', 'content', 'text'].filter((name) => properties[name]?.type === 'string')
  return Object.fromEntries(fields.map((name) => [name, text]))
}
