import type { Operation } from '#specs/dsl/declare.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Call } from '../call/call.ts'
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
  /** The name of the declaration: operations are `<name>.list`, `.get`, `.create`, `.update`, `.delete`. */
  readonly name: string
  readonly declaration: Ops
  readonly kind: TypedKind<T>
  readonly idPrefix: string
  /** The path parameter that holds the id. */
  readonly key: string
  /** Its name in the audit log: `rate_plan` results in `rate_plan.created`. */
  readonly noun: string
  /** Converts the body of a create to the data to store. */
  data(body: BodyOfVerb<Ops, 'create'>): T
  /** Applies the body of an update, for declarations with `update`; null for no change. */
  change?(data: T, body: BodyOfVerb<Ops, 'update'>): T | null
  /** Fields of the response other than `id`, `created_at` and `updated_at`. Absent: the stored data. */
  readonly view?: (row: Row<T>) => JsonObject
  /** Like `view`, for fields that are derived from other records: called with all rows of a page at once. */
  readonly views?: (
    services: Pick<Services, 'records' | 'now'>,
  ) => (rows: readonly Row<T>[]) => Promise<readonly JsonObject[]>
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
interface AnyPlainResource<T extends JsonObject> extends Omit<PlainResource<DeclaredOperations, T>, 'data' | 'change'> {
  data(body: unknown): T
  change?(data: T, body: unknown): T | null
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
export function plainResource<const Ops extends DeclaredOperations, T extends JsonObject>(
  spec: PlainResource<Ops, T>,
): PlainCapability<Ops>
export function plainResource<T extends JsonObject>(spec: AnyPlainResource<T>): AnyPlainCapability {
  return {
    name: spec.name,
    operations: spec.declaration,
    kinds: [spec.kind],
    open: (services) => ({ useCases: useCasesOf(spec, services) }),
  }
}

const useCasesOf = <T extends JsonObject>(
  spec: AnyPlainResource<T>,
  { records, now }: Pick<Services, 'records' | 'now'>,
): Readonly<Record<string, AnyUseCase>> => {
  const verbs = verbsOf(spec, new Table(records, spec.kind, now), spec.views?.({ records, now }))
  return Object.fromEntries(
    Object.keys(spec.declaration).map((id) => {
      const verb = verbs[id.slice(spec.name.length + 1)]
      if (verb === undefined) throw new Error(`${id} is no verb of a plain resource`)
      return [id, verb]
    }),
  )
}

const verbsOf = <T extends JsonObject>(
  spec: AnyPlainResource<T>,
  table: Table<T>,
  fields: ReturnType<NonNullable<AnyPlainResource<T>['views']>> = async (rows) =>
    rows.map((row) => spec.view?.(row) ?? row.data),
): Readonly<Record<string, AnyUseCase>> => {
  const views = async (rows: readonly Row<T>[]) => {
    const all = await fields(rows)
    return rows.map((row, index) => ({ id: row.id, ...all[index], ...rowTimes(row) }))
  }
  const one = async (row: Promise<Row<T>>) => (await views([await row]))[0]
  const { uniqueField } = spec
  const resource = new RecordResource({
    ...{ table, view: (row: Row<T>) => row, idPrefix: spec.idPrefix },
    ...(uniqueField !== undefined && { uniqueField }),
  })
  const audited = (call: PlainCall) => new Audited(call, spec.noun)
  const idOf = ({ params }: PlainCall): string => {
    const id = params[spec.key]
    if (id === undefined) throw new ServiceError('not_found')
    return id
  }
  const verbs: Record<string, AnyUseCase> = {
    list: async ({ scope, query: { limit, cursor, ...where } }: PlainCall) => {
      const query = { limit, cursor: typeof cursor === 'string' ? cursor : null, where: named(where) }
      const { data, next_cursor } = await resource.list(scope, query)
      return { data: await views(data), next_cursor }
    },
    get: (call: PlainCall) => one(resource.get(call.scope, idOf(call))),
    create: (call: PlainCall) => {
      const id = newIdFor(call, spec.idPrefix)
      const notices = [audited(call).line('created', id)]
      return one(resource.create(call.scope, { id, project: call.scope.project, data: spec.data(call.body), notices }))
    },
    delete: (call: PlainCall) => resource.remove(call.scope, idOf(call), audited(call).removed()),
  }
  if (spec.change !== undefined)
    verbs.update = (call: PlainCall) =>
      one(
        resource.change(call.scope, idOf(call), {
          edit: ({ data }) => spec.change?.(data, call.body) ?? null,
          notices: audited(call).changed(),
        }),
      )
  return verbs
}

/** The filters that the caller gave. */
const named = (query: JsonObject): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(query).flatMap(([field, value]) => (value === undefined ? [] : [[field, value]])))
