import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { JsonSchema, Shape } from '#specs/dsl/schema.ts'
import type { OfferedTool } from './offered-tools.ts'

/** A tool as clients see it, derived entirely from the declaration of its operation. */
export interface ShownTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: JsonSchema
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly openWorldHint: boolean
  }
}

/** JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/** A request to the API. */
export interface ToolRequest {
  readonly method: string
  /** Path with the query. */
  readonly path: string
  /** JSON body; null for none. */
  readonly body: string | null
}

/** The arguments of a tool call are invalid. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments'
}

/** Converts a tool to the form that clients list. */
export const shownTool = ({ name, mode, operation }: OfferedTool): ShownTool => ({
  name,
  title: operation.summary,
  description: [`${operation.summary}.`, operation.description ?? ''].join(' ').trim(),
  inputSchema: inputOf(operation),
  outputSchema: outputOf(operation),
  annotations: {
    title: operation.summary,
    readOnlyHint: mode === 'read',
    destructiveHint: operation.method === 'DELETE',
    openWorldHint: operation.paths[0].startsWith('/v1/web/'),
  },
})

/** What a result has as structure: the document of the operation, or the events of a turn. */
const outputOf = ({ answer }: Operation): JsonSchema => {
  const json = answer.kind === 'json' ? answer.schema.json : answer.kind === 'choice' ? answer.json.schema.json : null
  return json === null ? eventList : whollyPortable(json)
}

/** Rewrites the nullable fields of every level. */
const whollyPortable = (schema: JsonSchema): JsonSchema => {
  const { properties, items, anyOf } = schema
  const { type, ...rest } = portable({
    ...schema,
    ...(properties !== undefined && { properties: mapped(properties, whollyPortable) }),
    ...(items !== undefined && { items: whollyPortable(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(whollyPortable) }),
  })
  if (type !== undefined && !Array.isArray(type)) return { type, ...rest }
  // a list of values says all that its types do
  return rest.enum !== undefined || rest.anyOf !== undefined || rest.const !== undefined
    ? rest
    : { ...rest, ...anyValue }
}

/** What accepts every value, in a form that clients do not take for a mistake. */
const anyValue: JsonSchema = {
  anyOf: (['string', 'number', 'boolean', 'object', 'array', 'null'] as const).map((type) => ({ type })),
}

const mapped = (
  fields: Readonly<Record<string, JsonSchema>>,
  change: (schema: JsonSchema) => JsonSchema,
): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, change(schema)]))

const eventList: JsonSchema = {
  type: 'object',
  properties: {
    events: {
      type: 'array',
      description: 'Events of the turn until it ends or waits, without parts of texts.',
      items: {
        type: 'object',
        properties: { event: { type: 'string' }, data: { type: 'object' } },
        required: ['event', 'data'],
      },
    },
  },
  required: ['events'],
}

/** Parameters of path and query, and fields of the body, in one object: no operation uses a name twice. */
const inputOf = ({ params, query, body }: Operation): ObjectSchema => {
  const ofPath = Object.fromEntries(params.map((name) => [name, idOfPath]))
  const ofQuery = Object.fromEntries(Object.entries(query).map(([name, { json }]) => [name, json]))
  const ofBody = fieldsOf(body?.json)
  return {
    type: 'object',
    properties: { ...ofPath, ...ofQuery, ...mapped(ofBody.properties, portable) },
    required: [...params, ...requiredIn(query), ...ofBody.required],
    additionalProperties: false,
  }
}

/**
 * Rewrites nullable fields as alternatives of one type each: some clients convert schemas to dialects without lists of
 * types.
 */
const portable = (schema: JsonSchema): JsonSchema => {
  const { type, description, ...rest } = schema
  if (!Array.isArray(type) || !type.includes('null') || rest.enum !== undefined) return schema
  const anyOf = type.map((each) => (each === 'null' ? { type: each } : { ...rest, type: each }))
  return { anyOf, ...(description !== undefined && { description }) }
}

/** Schema of an id in the path. */
const idOfPath: JsonSchema = { type: 'string', minLength: 1, maxLength: 128 }

const fieldsOf = (schema: JsonSchema | undefined): Pick<ObjectSchema, 'properties' | 'required'> => ({
  properties: schema?.properties ?? {},
  required: schema?.required ?? [],
})

const requiredIn = (query: Shape): readonly string[] =>
  Object.entries(query).flatMap(([name, { presence }]) => (presence === 'required' ? [name] : []))

/**
 * Builds the API request of a call.
 *
 * @throws {BadArguments} for a missing path parameter, and for an unknown argument.
 */
export const requestOf = ({ operation }: Pick<OfferedTool, 'operation'>, given: JsonObject): ToolRequest => {
  const { params, query, body, method, paths } = operation
  const known = Object.keys(inputOf(operation).properties)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new BadArguments(`The tool has no argument ${unknown}.`)
  const path = paths[0].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name]
    if (typeof value !== 'string' || value === '') throw new BadArguments(`The argument ${name} is missing.`)
    // these would lead to another path once the URL is resolved
    if (value === '.' || value === '..' || !value.isWellFormed())
      throw new BadArguments(`The argument ${name} is not an id.`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(
    Object.keys(query).flatMap((name): [string, string][] =>
      given[name] === undefined ? [] : [[name, textOf(given[name])]],
    ),
  ).toString()
  const fields = Object.entries(given).filter(([name]) => !params.includes(name) && !(name in query))
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    body: body === null ? null : JSON.stringify(Object.fromEntries(fields)),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
