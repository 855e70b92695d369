import { compile } from '#specs/dsl/ajv.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'

/** A changed body, and the path of the change. */
export interface Mutation {
  /** Path as errors name it, e.g. `tools[0].function.name`. */
  readonly param: string
  readonly body: unknown
}

const texts = [
  '2024-10-21',
  'text',
  '1.0.0',
  '1.5',
  'a@b.example',
  'https://tool.example',
  '2026-01-01T00:00:00.000Z',
  'twelve letters',
  '24h',
  '*',
  'en',
  'DE',
  '01890a5d-ac96-774b-bcce-b302099a8057',
  '/v1/me',
  '/oauth/authorize?client_id=a',
  'read',
  '1',
  `act_${'0'.repeat(26)}`,
]

/** A value that the schema accepts, with every declared field of every object. */
export const sampleOf = (schema: JsonSchema): unknown => {
  if (schema['x-id'] !== undefined) return `${schema['x-id']}_${'0'.repeat(26)}`
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const branch = schema.oneOf?.[0] ?? schema.anyOf?.[0]
  if (branch !== undefined) return sampleOf(branch)
  switch (typeOf(schema)) {
    case 'string':
      return textFor(schema)
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(schema.items ?? {})]
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, sampleOf(field)]))
    default:
      return { any: 'value' }
  }
}

const compiled = new WeakMap<JsonSchema, (value: unknown) => boolean>()

/** Compiles a schema without its default: ajv accepts no default at the root. */
const accepts = (schema: JsonSchema): ((value: unknown) => boolean) => {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const { default: _unused, ...rest } = schema
  const fits = compile(rest)
  compiled.set(schema, fits)
  return fits
}

const typeOf = ({ type }: JsonSchema): string | undefined => (typeof type === 'string' ? type : type?.[0])

const textFor = (schema: JsonSchema): string => {
  const fits = accepts(schema)
  const found = texts.find((text) => fits(text))
  if (found === undefined) throw new Error(`no sample text fits ${JSON.stringify(schema)}`)
  return found
}

/** The sample body once for each required field at any depth, without that field. */
export const withoutRequired = (schema: JsonSchema): readonly Mutation[] =>
  visit(schema, '', (object, path) =>
    (object.required ?? []).map((name) => ({ param: join(path, name), change: (value) => omit(value, name) })),
  )

/** The sample body once for each declared field at any depth, with a value of a wrong type. */
export const withWrongTypes = (schema: JsonSchema): readonly Mutation[] =>
  visit(schema, '', (object, path) =>
    Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
      const wrong = [true, 7.5].find((value) => !accepts(field)(value))
      if (wrong === undefined) return []
      return [{ param: join(path, name), change: (value) => ({ ...recordOf(value), [name]: wrong }) }]
    }),
  )

/** The sample body once for each closed object at any depth, with one undeclared field. */
export const withUnknown = (schema: JsonSchema): readonly Mutation[] =>
  visit(schema, '', (object, path) =>
    object['x-open'] === true
      ? []
      : [{ param: join(path, 'undeclared_field'), change: (value) => ({ ...recordOf(value), undeclared_field: 1 }) }],
  )

interface Change {
  readonly param: string
  readonly change: (value: unknown) => unknown
}

/** Applies the changes that `find` returns for each declared object within the schema to the sample of the whole. */
const visit = (
  schema: JsonSchema,
  path: string,
  find: (object: JsonSchema, path: string) => readonly Change[],
): readonly Mutation[] =>
  changesIn(schema, path, find).map(({ param, change }) => ({ param, body: change(sampleOf(schema)) }))

const changesIn = (
  schema: JsonSchema,
  path: string,
  find: (object: JsonSchema, path: string) => readonly Change[],
): readonly Change[] => {
  const branch = schema.oneOf?.[0] ?? schema.anyOf?.[0]
  if (branch !== undefined) return changesIn(branch, path, find)
  if (schema.items !== undefined) {
    return changesIn(schema.items, `${path}[0]`, find).map(({ param, change }) => ({
      param,
      change: (value) => [change(Array.isArray(value) ? value[0] : undefined)],
    }))
  }
  if (schema.properties === undefined) return []
  const below = Object.entries(schema.properties).flatMap(([name, field]) =>
    changesIn(field, join(path, name), find).map(({ param, change }) => ({
      param,
      change: (value: unknown) => ({ ...recordOf(value), [name]: change(recordOf(value)[name]) }),
    })),
  )
  return [...find(schema, path), ...below]
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}

const omit = (value: unknown, name: string): unknown =>
  Object.fromEntries(Object.entries(recordOf(value)).filter(([key]) => key !== name))

/** A query string of these `name=value` pairs and a sample of each further required parameter. */
export const queryWith = ({ query }: Pick<Operation, 'query'>, given: readonly string[] = []): string => {
  const names = new Set(given.map((pair) => pair.slice(0, pair.indexOf('='))))
  const needed = Object.entries(query)
    .filter(([name, { presence }]) => presence === 'required' && !names.has(name))
    .map(([name, { json }]) => `${name}=${encodeURIComponent(String(sampleOf(json)))}`)
  const pairs = [...given, ...needed]
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
