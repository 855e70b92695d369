import type { Operation } from '#specs/dsl/declare.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { type DeclaredResource, nounOf, resourceOf } from '#specs/dsl/resource.ts'
import type { Shape } from '#specs/dsl/schema.ts'
import { narrowedScope, type Scope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import { orNotFound } from '../call/not-found.ts'
import type { AnyUseCase } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row, TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { AnyCapability, Capability, DeclaredOperations, Opened } from './capability.ts'
import type { Services } from './services.ts'

/** A resource of a project without a lifecycle: one kind of record, and the standard operations on it. */
export interface PlainResource<Ops extends DeclaredOperations, T extends JsonObject> {
  /** From `defineResource`; its operations are any of list, get, create, update and delete. */
  readonly declaration: Ops
  /** Absent: a kind with the name of the resource, without filters. */
  readonly kind?: TypedKind<T>
  /** Converts the body of a create to the data to store. Absent: its fields, null for nullable ones that are absent. */
  data?(body: BodyOfVerb<Ops, 'create'>): T
  /** Throws a `ServiceError` for changed data that cannot be stored. */
  check?(data: T): void
  /** Awaited before a create or update, for what takes long to check. @throws {ServiceError} */
  checkBody?(body: Partial<BodyOfVerb<Ops, 'create'>>): Promise<void>
  /** Fields of the response other than `id`, `created_at` and `updated_at`. Absent: the stored data. */
  readonly view?: (row: Row<T>) => JsonObject
  /** Like `view`, for fields that are derived from other records: called with all rows of a page at once. */
  readonly views?: (
    services: Pick<Services, 'records' | 'now'>,
  ) => (rows: readonly Row<T>[]) => Promise<readonly JsonObject[]>
  /** Each row belongs to the member who created it, whom no other one can take it from: its `user` is the member. */
  readonly ofMember?: true
  /** Name of the body field to report when a create violates a unique key. */
  readonly uniqueField?: string
}

/** A capability that needs only `records` and `now` of the services. */
export interface PlainCapability<Ops extends DeclaredOperations> extends Omit<Capability<Ops>, 'open'> {
  readonly open: (services: Pick<Services, 'records' | 'now'>) => Opened<Ops>
}

/** The body of the operation `<name>.<verb>`. */
type BodyOfVerb<Ops extends DeclaredOperations, Verb extends string> = {
  [Id in keyof Ops & string]: Id extends `${string}.${Verb}` ? BodyIn<Ops[Id]> : never
}[keyof Ops & string]

type BodyIn<O> = O extends Operation<infer S> ? S['body'] : never

/** A plain resource with any declaration: the validator guarantees the types of the bodies. */
interface AnyPlainResource extends Omit<PlainResource<DeclaredOperations, JsonObject>, 'data' | 'check' | 'checkBody'> {
  data?(body: JsonObject): JsonObject
  check?(data: JsonObject): void
  checkBody?(body: JsonObject): Promise<void>
}

interface AnyPlainCapability extends Omit<AnyCapability, 'open'> {
  open(services: Pick<Services, 'records' | 'now'>): { readonly useCases: Readonly<Record<string, AnyUseCase>> }
}

type PlainCall = Call<Readonly<Record<string, string>>, JsonObject & { readonly limit: number }, JsonObject>

/**
 * Creates the capability of a plain resource: list with cursors and declared filters, get, create under an idempotent
 * id, update and delete, with an audit log entry for each change; 404 for a resource that does not exist or belongs to
 * another project.
 *
 * @throws {Error} when opened, if the declaration has any other operation: such a resource needs its own use-cases.
 */
export function plainResource<const Ops extends DeclaredOperations, T extends JsonObject = JsonObject>(
  spec: PlainResource<Ops, T>,
): PlainCapability<Ops>
export function plainResource(spec: AnyPlainResource): AnyPlainCapability {
  const resource = resourceOf(spec.declaration)
  const { name, operations } = resource
  const kind = spec.kind ?? { name, filters: Object.keys(operations.list?.query ?? {}), outbox: true }
  return {
    ...{ name, operations: spec.declaration, kinds: [kind] },
    open: ({ records, now }) => {
      const verbs = verbsOf(resource, spec, {
        table: new Table(records, kind, now),
        views: spec.views?.({ records, now }),
      })
      return { useCases: Object.fromEntries(Object.keys(spec.declaration).map((id) => [id, verbOf(verbs, id)])) }
    },
  }
}

const verbOf = (verbs: Readonly<Record<string, AnyUseCase>>, id: string): AnyUseCase => {
  const verb = verbs[id.slice(id.indexOf('.') + 1)]
  if (verb === undefined) throw new Error(`${id} is no verb of a plain resource`)
  return verb
}

interface PlainRows {
  readonly table: Table<JsonObject>
  readonly views: ReturnType<NonNullable<AnyPlainResource['views']>> | undefined
}

const verbsOf = (
  { idPrefix, key, title, fields, writable }: DeclaredResource,
  {
    view,
    data = (body) => storedFields(writable, fields, body),
    check,
    checkBody,
    ofMember,
    uniqueField,
  }: AnyPlainResource,
  { table, views = async (rows) => rows.map((row) => view?.(row) ?? row.data) }: PlainRows,
): Readonly<Record<string, AnyUseCase>> => {
  const shown = async (rows: readonly Row<JsonObject>[]) => {
    const all = await views(rows)
    return rows.map((row, index) => ({ id: row.id, ...all[index], ...rowTimes(row) }))
  }
  const one = async (row: Promise<Row<JsonObject>>) => (await shown([await row]))[0]
  const resource = new RecordResource({
    ...{ table, view: (row: Row<JsonObject>) => row, idPrefix },
    ...(uniqueField !== undefined && { uniqueField }),
  })
  const audited = (call: PlainCall) => new Audited(call, nounOf(title).replaceAll(' ', '_'))
  const scopeOf = ({ scope, principal }: PlainCall): Scope =>
    ofMember ? narrowedScope(scope, { tenant: null, user: memberOf(principal).memberId }) : scope
  const idOf = ({ params }: PlainCall): string => orNotFound(params[key])
  return {
    list: async (call: PlainCall) => {
      const { limit, cursor, ...where } = call.query
      const query = { limit, cursor: typeof cursor === 'string' ? cursor : null, where: named(where) }
      const { data, next_cursor } = await resource.list(scopeOf(call), query)
      return { data: await shown(data), next_cursor }
    },
    get: (call: PlainCall) => one(resource.get(scopeOf(call), idOf(call))),
    create: async (call: PlainCall) => {
      await checkBody?.(call.body)
      const id = newIdFor(call, idPrefix)
      const notices = [audited(call).line('created', id)]
      const { project, user } = scopeOf(call)
      const owner = { project, ...(ofMember && { user }) }
      return one(resource.create(scopeOf(call), { id, ...owner, data: data(call.body), notices }))
    },
    update: async (call: PlainCall) => {
      await checkBody?.(call.body)
      const edit = (row: Row<JsonObject>) => {
        const next = { ...row.data, ...call.body }
        check?.(next)
        return next
      }
      return one(resource.change(scopeOf(call), idOf(call), { edit, notices: audited(call).changed() }))
    },
    delete: (call: PlainCall) => resource.remove(scopeOf(call), idOf(call), audited(call).removed()),
  }
}

/** The writable fields of a body: nullable ones that are absent are null. */
const storedFields = (names: readonly string[], fields: Shape, body: JsonObject): JsonObject => {
  const empty = names.filter((name) => fields[name]?.presence === 'nullable').map((name) => [name, null])
  return { ...Object.fromEntries(empty), ...body }
}

/** The filters that the caller gave. */
const named = (query: JsonObject): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(query).flatMap(([field, value]) => (value === undefined ? [] : [[field, value]])))
