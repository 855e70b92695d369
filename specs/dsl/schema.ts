import type { Json, JsonObject } from './json.ts'

/** The subset of JSON Schema 2020-12 that declarations use, for ajv and OpenAPI. */
export interface JsonSchema {
  readonly type?: JsonTypeName | readonly JsonTypeName[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly default?: Json
  readonly items?: JsonSchema
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly discriminator?: { readonly propertyName: string }
  /** A number outside these limits is replaced by the nearer limit instead of being refused; null for no limit. */
  readonly 'x-clamp'?: readonly [min: number | null, max: number | null]
  /** Maximum size of the object's JSON in UTF-8, in bytes. */
  readonly 'x-max-bytes'?: number
  /** Prefix of the ids of this resource, without `_`. */
  readonly 'x-id'?: string
  /** The text must be able to be an id (`isIdText`). Requests get this keyword by the name of the field. */
  readonly 'x-id-text'?: true
  /** The object accepts undeclared fields. */
  readonly 'x-open'?: true
  /** Schema that OpenAPI shows instead. Requests are validated against the schema itself, which accepts no less. */
  readonly 'x-shape'?: JsonSchema
}

type JsonTypeName = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null'

/**
 * Presence of a field in an object: required, optional, filled in when absent, or present but possibly null (in a
 * request body, such a field may also be absent).
 */
export type Presence = 'required' | 'optional' | 'default' | 'nullable'

declare const inferred: unique symbol

/** A JSON Schema with the TypeScript type of the values that it describes. */
export interface Schema<out T, P extends Presence = Presence> {
  readonly json: JsonSchema
  readonly presence: P
  readonly [inferred]?: T
}

/** The fields of an object. */
export type Shape = Readonly<Record<string, Schema<unknown>>>

/** Type of a schema's values. */
export type Infer<S> = S extends Schema<infer T> ? T : never

type Simplify<T> = { [K in keyof T]: T[K] }

/** Type of an object with these fields. */
export type InferShape<F extends Shape> = Simplify<
  { readonly [K in keyof F as F[K]['presence'] extends 'optional' ? never : K]: Infer<F[K]> } & {
    readonly [K in keyof F as F[K]['presence'] extends 'optional' ? K : never]?: Infer<F[K]>
  }
>

const make = <T>(json: JsonSchema): Schema<T, 'required'> => ({ json, presence: 'required' })

/** Schema of a text. Lengths are in Unicode code points, as in JSON Schema. */
export const string = (
  options: {
    minLength?: number
    maxLength?: number
    pattern?: string
    format?: 'email' | 'uri' | 'uuid'
    description?: string
  } = {},
): Schema<string, 'required'> => make({ type: 'string', ...options })

/** Options of a number. `clamp` names the limits to which an outside value is moved instead of being refused. */
export interface NumberOptions {
  readonly min?: number
  readonly max?: number
  readonly clamp?: 'max' | 'both'
  readonly description?: string
}

const numeric = (type: 'integer' | 'number', { min, max, clamp, description }: NumberOptions): JsonSchema => ({
  type,
  ...(description === undefined ? {} : { description }),
  ...(min === undefined || clamp === 'both' ? {} : { minimum: min }),
  ...(max === undefined || clamp !== undefined ? {} : { maximum: max }),
  ...(clamp === undefined ? {} : { 'x-clamp': [clamp === 'both' ? (min ?? null) : null, max ?? null] as const }),
})

/** Schema of an integer. */
export const integer = (options: NumberOptions = {}): Schema<number, 'required'> => make(numeric('integer', options))

/** Schema of a number. */
export const number = (options: NumberOptions = {}): Schema<number, 'required'> => make(numeric('number', options))

/** Schema of a boolean. */
export const boolean = (): Schema<boolean, 'required'> => make({ type: 'boolean' })

/** Schema of an enumeration of words. */
export const oneOf = <const V extends readonly string[]>(...values: V): Schema<V[number], 'required'> =>
  make({ type: 'string', enum: values })

/** Schema of exactly this value. */
export const constant = <const V extends boolean | string | number>(value: V): Schema<V, 'required'> =>
  make({ type: typeName(value), const: value })

const typeName = (value: boolean | string | number): JsonTypeName => {
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'boolean' : 'number'
}

/** Schema of a list. */
export const array = <S extends Schema<unknown>>(
  items: S,
  options: { minItems?: number; maxItems?: number } = {},
): Schema<readonly Infer<S>[], 'required'> => make({ type: 'array', items: items.json, ...options })

/** Schema of an object with these fields. `title` makes it a component in OpenAPI; `open` accepts undeclared fields. */
export const object = <const F extends Shape>(
  fields: F,
  options: { title?: string; description?: string; open?: true } = {},
): Schema<InferShape<F>, 'required'> => {
  const { open, ...words } = options
  const names = Object.keys(fields)
  return make({
    type: 'object',
    ...words,
    properties: Object.fromEntries(names.map((name) => [name, fields[name]?.json ?? {}])),
    required: names.filter((name) => fields[name]?.presence === 'required' || fields[name]?.presence === 'nullable'),
    ...(open ? { 'x-open': true as const } : {}),
  })
}

/** Schema of an object with any keys and values of one schema. */
export const record = <S extends Schema<unknown>>(
  values: S,
  options: { maxProperties?: number } = {},
): Schema<{ readonly [key: string]: Infer<S> }, 'required'> =>
  make({ type: 'object', additionalProperties: values.json, ...options })

/** Schema of any JSON value. */
export const json = (): Schema<Json, 'required'> => make({})

/** Schema of any JSON object. `title` makes it a component in OpenAPI. */
export const jsonObject = ({
  maxBytes,
  title,
}: {
  maxBytes?: number
  title?: string
} = {}): Schema<JsonObject, 'required'> =>
  make({
    type: 'object',
    additionalProperties: true,
    ...(title !== undefined && { title }),
    ...(maxBytes !== undefined && { 'x-max-bytes': maxBytes }),
  })

/** Schema of a time: RFC 3339 with milliseconds, in UTC. */
export const timestamp = (): Schema<string, 'required'> => make({ type: 'string', format: 'date-time' })

/** Schema of a time, or of a date, which means its start in UTC. */
export const timeOrDay = (): Schema<string, 'required'> =>
  make({
    type: 'string',
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
  })

/**
 * Schema of an id that the server generated: the prefix, `_`, 26 characters. For responses; requests use `string()`,
 * since an unknown id results in 404.
 *
 * @param older prefix of the ids that earlier releases generated.
 */
export const id = (prefix: string, older?: string): Schema<string, 'required'> => {
  const start = older === undefined ? prefix : `(${prefix}|${older})`
  return make({ type: 'string', pattern: `^${start}_[0-9a-z]{26}$`, 'x-id': prefix })
}

/**
 * Schema of a value that matches one of several schemas. With `discriminator` (a field with a different word in each),
 * errors refer to the branch that was meant.
 */
export const union = <const S extends readonly Schema<unknown>[]>(
  schemas: S,
  discriminator?: string,
): Schema<Infer<S[number]>, 'required'> => {
  const branches = schemas.map((schema) => schema.json)
  if (discriminator === undefined) return make({ anyOf: branches })
  return make({ type: 'object', oneOf: branches, discriminator: { propertyName: discriminator } })
}

/** Schema of a value or null. */
export const nullable = <S extends Schema<unknown>>(schema: S): Schema<Infer<S> | null, 'nullable'> => ({
  json: orNull(schema.json),
  presence: 'nullable',
})

/** Schema of a field that may be absent. */
export const optional = <S extends Schema<unknown>>(schema: S): Schema<Infer<S>, 'optional'> => ({
  json: schema.json,
  presence: 'optional',
})

/** Schema of a field of a body or query that is filled in when absent. In responses it is always present. */
export const defaulted = <S extends Schema<unknown>>(
  schema: S,
  value: Infer<S> & Json,
): Schema<Infer<S>, 'default'> => ({
  json: { ...schema.json, default: value },
  presence: 'default',
})

/** Returns the schema with a description for the API reference. `title` makes it a component in OpenAPI. */
export const described = <T, P extends Presence>(
  schema: Schema<T, P>,
  description: string,
  title?: string,
): Schema<T, P> => ({
  json: { ...schema.json, description, ...(title !== undefined && { title }) },
  presence: schema.presence,
})

/**
 * Returns the schema, documented with the known shapes of another API for readers and generated clients. Other values
 * are accepted too, so that a new field or part of a provider can be used at once.
 */
export const known = <T, P extends Presence>(schema: Schema<T, P>, { shapes, other }: Known): Schema<T, P> => ({
  json: {
    ...schema.json,
    'x-shape': {
      anyOf: [...shapes.map((shape) => shape.json), ...(schema.json.anyOf ?? [{ ...schema.json, title: other }])],
    },
  },
  presence: schema.presence,
})

/** Known shapes, and the title of all other values. */
interface Known {
  readonly shapes: readonly Schema<unknown>[]
  readonly other: string
}

function orNull(schema: JsonSchema): JsonSchema {
  if (isAnything(schema)) return schema
  if (typeof schema.type !== 'string' || schema.oneOf !== undefined || schema.anyOf !== undefined)
    return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }),
  }
}

/** Whether a schema without rules accepts anything, including null. */
const isAnything = ({ type, anyOf, oneOf, enum: words, const: value }: JsonSchema): boolean =>
  [type, anyOf, oneOf, words, value].every((rule) => rule === undefined)
