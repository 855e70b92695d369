import type { Access } from '../access.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { FieldRule } from '../field-access.ts'
import { isJsonResponse, type JsonAnswer } from './answer.ts'
import { defineOperations, type EnvelopeName, type Operation, type OperationSpec, type PathParams } from './declare.ts'
import { cursorPage, cursorQuery } from './lists.ts'
import {
  constant,
  described,
  type Infer,
  type InferShape,
  id,
  object,
  optional,
  type Schema,
  type Shape,
  timestamp,
} from './schema.ts'

/** Differences of a standard operation from its resource's defaults. */
interface VerbSpec {
  readonly summary?: string
  readonly description?: string
  readonly access?: Access
  readonly status?: number
  /** Rules about who may set certain fields of the body. */
  readonly fields?: readonly FieldRule[]
  /** Filters of a list. */
  readonly query?: Shape
  readonly errors?: readonly ErrorCode[]
  /** `delete` only: the response is the row after a revocation or deactivation, instead of `{ id, deleted }`. */
  readonly answersRow?: true
  /** Secrets that this response shows once, in addition to the row. */
  readonly shows?: Shape
}

/** A custom operation, `POST <path>/{key}/<name>`, which returns the row. */
interface TransitionSpec {
  /** Event that is sent to the resource's machine; absent for a resource without one. */
  readonly event?: string
  readonly summary: string
  readonly description?: string
  readonly access?: Access
  readonly body?: Schema<unknown>
  /** Rules about who may set certain fields of the body. */
  readonly fields?: readonly FieldRule[]
  readonly status?: number
  readonly errors?: readonly ErrorCode[]
  /** Secrets that this response shows once, in addition to the row. */
  readonly shows?: Shape
}

/** A resource: its fields and operations. */
export interface ResourceSpec {
  /** Path of the collection. */
  readonly path: string
  /** Path parameter that identifies a row: an id, or a key that callers choose (`version`, `external_user_id`). */
  readonly key: string
  readonly idPrefix: string
  /** Prefix of the ids that earlier releases generated. */
  readonly olderIdPrefix?: string
  /** Name in the API reference and in generated clients, from which default summaries are derived. */
  readonly title: string
  /** Description in whole sentences, for the API reference. */
  readonly description?: string
  /** Fields in addition to `id`, `created_at` and `updated_at`. */
  readonly fields: Shape
  /** Fields that request bodies may contain. Nullable ones and those with a default are optional. */
  readonly writable: readonly string[]
  /** Further fields of request bodies that responses never contain by this name (a password, `expires_in`). */
  readonly writeOnly?: Shape
  readonly access: Access
  readonly envelope?: EnvelopeName
  /** Standard operations. `put` is an upsert by key, with the method PUT and status 201. */
  readonly operations: { readonly [V in Verb]?: VerbSpec }
  /** Name of the machine that receives transitions (src/machines). */
  readonly machine?: string
  readonly transitions?: Readonly<Record<string, TransitionSpec>>
  /** Owner of the rows (`OperationSpec.ofTenants`). */
  readonly ofTenants?: 'tenant' | 'user'
}

type Verb = 'list' | 'create' | 'get' | 'update' | 'put' | 'delete'

type Simplify<T> = { [K in keyof T]: T[K] }

/** A row of a resource, as responses contain it. */
type RowOf<R extends ResourceSpec> = Simplify<
  { readonly id: string } & InferShape<R['fields']> & { readonly created_at: string; readonly updated_at: string }
>

/** Body of a create request, with defaults filled in. */
type CreateBodyOf<R extends ResourceSpec> = Simplify<
  {
    readonly [K in R['writable'][number] as LeavesOut<R, K> extends true ? never : K]: Infer<R['fields'][K]>
  } & {
    readonly [K in R['writable'][number] as LeavesOut<R, K> extends true ? K : never]?: Infer<R['fields'][K]>
  } & WriteOnlyOf<R>
>

/** Body of an update: any of the writable fields. */
type UpdateBodyOf<R extends ResourceSpec> = Simplify<
  { readonly [K in R['writable'][number]]?: Infer<R['fields'][K]> } & Partial<WriteOnlyOf<R>>
>

type WriteOnlyOf<R extends ResourceSpec> = R extends { readonly writeOnly: infer F extends Shape }
  ? InferShape<F>
  : unknown

type ShownOf<S> = S extends { readonly shows: infer F extends Shape } ? InferShape<F> : unknown

type LeavesOut<R extends ResourceSpec, K extends string> = R['fields'][K] extends {
  readonly presence: 'optional' | 'nullable'
}
  ? true
  : false

type VerbParams<R extends ResourceSpec, V> = V extends 'list' | 'create'
  ? PathParams<R['path']>
  : Simplify<PathParams<R['path']> & { readonly [K in R['key']]: string }>

type VerbQuery<S> = S extends { readonly query: infer Q extends Shape }
  ? InferShape<typeof cursorQuery & Q>
  : InferShape<typeof cursorQuery>

type VerbBody<R extends ResourceSpec, V> = V extends 'create' | 'put'
  ? CreateBodyOf<R>
  : V extends 'update'
    ? UpdateBodyOf<R>
    : undefined

type VerbResult<R extends ResourceSpec, V, S> = V extends 'list'
  ? { readonly data: readonly RowOf<R>[]; readonly next_cursor: string | null }
  : V extends 'delete'
    ? S extends { readonly answersRow: true }
      ? RowOf<R>
      : { readonly id: string; readonly deleted: true }
    : Simplify<RowOf<R> & ShownOf<S>>

interface VerbSignature<R extends ResourceSpec, V, S> {
  readonly params: VerbParams<R, V>
  readonly query: V extends 'list' ? VerbQuery<S> : Record<never, never>
  readonly body: VerbBody<R, V>
  readonly answer: JsonAnswer<VerbResult<R, V, S>, false>
}

interface TransitionSignature<R extends ResourceSpec, T> {
  readonly params: VerbParams<R, 'get'>
  readonly query: Record<never, never>
  readonly body: T extends { readonly body: infer B } ? Infer<B> : undefined
  readonly answer: JsonAnswer<Simplify<RowOf<R> & ShownOf<T>>, false>
}

/** Operations of a resource by id. */
export type ResourceOperations<N extends string, R extends ResourceSpec> = {
  readonly [V in keyof R['operations'] & string as `${N}.${V}`]: Operation<VerbSignature<R, V, R['operations'][V]>>
} & {
  readonly [K in keyof Transitions<R> & string as `${N}.${K}`]: Operation<TransitionSignature<R, Transitions<R>[K]>>
}

type Transitions<R> = R extends { readonly transitions: infer T } ? T : Record<never, never>

/** Declares a resource. The ids of its operations are `<name>.<verb>` and `<name>.<transition>`. */
export function defineResource<const N extends string, const R extends ResourceSpec>(
  name: N,
  resource: R,
): ResourceOperations<N, R>
export function defineResource(name: string, resource: ResourceSpec): Readonly<Record<string, Operation>> {
  const specs: Record<string, OperationSpec> = {}
  for (const verb of verbs) {
    const spec = resource.operations[verb]
    if (spec !== undefined) specs[verb] = verbSpec(resource, verb, spec)
  }
  for (const [verb, spec] of Object.entries(resource.transitions ?? {})) specs[verb] = transition(resource, verb, spec)
  const operations = defineOperations({ name, ofTenants: resource.ofTenants }, specs)
  declared.set(operations, { ...resource, name })
  return operations
}

const declared = new WeakMap<object, DeclaredResource>()

/** A resource with the first part of the ids of its operations. */
export interface DeclaredResource extends ResourceSpec {
  readonly name: string
}

/** Returns the resource of these operations. @throws {Error} if `defineResource` did not return them */
export const resourceOf = (operations: object): DeclaredResource => {
  const resource = declared.get(operations)
  if (resource === undefined) throw new Error(`${Object.keys(operations)[0]} belongs to no resource of defineResource`)
  return resource
}

/** Returns the schema of a resource's row in responses. */
export const rowSchema = (
  resource: Pick<ResourceSpec, 'idPrefix' | 'olderIdPrefix' | 'fields' | 'title' | 'description'>,
  shows?: Shape,
): Schema<unknown> =>
  object(
    {
      id: id(resource.idPrefix, resource.olderIdPrefix),
      ...resource.fields,
      ...shows,
      created_at: described(timestamp(), 'Time at which the resource was created.'),
      updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
    },
    {
      title: shows === undefined ? resource.title : `${resource.title}Shown`,
      ...(resource.description !== undefined && { description: resource.description }),
    },
  )

const verbs: readonly Verb[] = ['list', 'create', 'get', 'update', 'put', 'delete']

const itemPath = ({ path, key }: ResourceSpec): string => `${path}/{${key}}`

const verbSpec = (resource: ResourceSpec, verb: Verb, spec: VerbSpec): OperationSpec => ({
  ...verbShape(resource, verb, spec),
  summary: spec.summary ?? summaryOf(verb, nounOf(resource.title)),
  ...shared(resource, spec),
  ...(verb === 'list' && { description: spec.description ?? listDescription }),
})

const summaryOf = (verb: Verb, noun: string): string =>
  verb === 'list' ? `List ${plural(noun)}` : `${verbWords[verb]} ${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`

const verbWords: Readonly<Record<Exclude<Verb, 'list'>, string>> = {
  create: 'Create',
  get: 'Retrieve',
  update: 'Update',
  put: 'Create or update',
  delete: 'Delete',
}

/** Returns the noun for a title: `AgentKey` becomes `agent key`, and `OAuthGrant` `OAuth grant`. */
export const nounOf = (title: string): string =>
  title
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .split(' ')
    .map((word) => spelt[word] ?? word.toLowerCase())
    .join(' ')

/** Words whose spelling is not lower case. */
const spelt: Readonly<Record<string, string>> = { OAuth: 'OAuth', Oidc: 'OIDC' }

const plural = (noun: string): string =>
  noun.endsWith('y') && !noun.endsWith('key') ? `${noun.slice(0, -1)}ies` : `${noun}s`

const listDescription = 'Newest first. To get the next page, send `next_cursor` of this one as `cursor`.'

const shared = (resource: ResourceSpec, spec: Pick<VerbSpec, 'access' | 'errors' | 'description' | 'fields'>) => ({
  ...(spec.description === undefined ? {} : { description: spec.description }),
  access: spec.access ?? resource.access,
  ...(spec.errors === undefined ? {} : { errors: spec.errors }),
  ...(spec.fields === undefined ? {} : { fields: spec.fields }),
  ...(resource.envelope === undefined ? {} : { envelope: resource.envelope }),
})

function verbShape(
  resource: ResourceSpec,
  verb: Verb,
  spec: VerbSpec,
): Pick<OperationSpec, 'method' | 'path' | 'query' | 'body' | 'answer'> {
  const row = rowSchema(resource, spec.shows)
  const item = itemPath(resource)
  const answered = (schema: Schema<unknown>, status: number) =>
    isJsonResponse(schema, { status: spec.status ?? status, secret: spec.shows !== undefined })
  switch (verb) {
    case 'list':
      return {
        method: 'GET',
        path: resource.path,
        query: { ...cursorQuery, ...spec.query },
        answer: answered(cursorPage(row), 200),
      }
    case 'create':
      return { method: 'POST', path: resource.path, body: createBody(resource), answer: answered(row, 201) }
    case 'get':
      return { method: 'GET', path: item, answer: answered(row, 200) }
    case 'update':
      return { method: 'PATCH', path: item, body: updateBody(resource), answer: answered(row, 200) }
    case 'put':
      return { method: 'PUT', path: item, body: createBody(resource), answer: answered(row, 201) }
    case 'delete':
      return { method: 'DELETE', path: item, answer: answered(spec.answersRow ? row : deleted(resource), 200) }
  }
}

const deleted = ({ idPrefix, olderIdPrefix }: ResourceSpec) =>
  object({ id: id(idPrefix, olderIdPrefix), deleted: described(constant(true), 'Always true.') })

const createBody = (resource: ResourceSpec) =>
  object({
    ...writableFields(resource, (field) => (field.presence === 'nullable' ? optional(field) : field)),
    ...resource.writeOnly,
  })

const updateBody = (resource: ResourceSpec) => {
  const writeOnly = Object.entries(resource.writeOnly ?? {}).map(([name, field]) => [name, withoutDefault(field)])
  return object({ ...writableFields(resource, withoutDefault), ...Object.fromEntries(writeOnly) })
}

/** Removes the default of a field: it only applies to creation, and an update without the field must not reset it. */
const withoutDefault = (field: Schema<unknown>): Schema<unknown> => {
  const { default: _unused, ...json } = field.json
  return optional({ json, presence: 'required' })
}

const writableFields = (resource: ResourceSpec, change: (field: Schema<unknown>) => Schema<unknown>): Shape =>
  Object.fromEntries(
    resource.writable.map((name) => {
      const field = resource.fields[name]
      if (field === undefined) throw new Error(`${resource.title}: writable names no field: ${name}`)
      return [name, change(field)]
    }),
  )

const transition = (resource: ResourceSpec, name: string, spec: TransitionSpec): OperationSpec => ({
  summary: spec.summary,
  method: 'POST',
  path: `${itemPath(resource)}/${name}`,
  ...(spec.body === undefined ? {} : { body: spec.body }),
  answer: isJsonResponse(rowSchema(resource, spec.shows), {
    status: spec.status ?? 200,
    secret: spec.shows !== undefined,
  }),
  ...(spec.event === undefined ? {} : { event: spec.event }),
  ...shared(resource, spec),
})
