import { parse } from 'yaml'
import type { Json, JsonObject } from '#storage/index.ts'
import { inlined, isRecord } from './inlined-schema.ts'

/** An operation of a document, described as a tool. */
type ReadOperation = {
  readonly name: string
  readonly description: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly parameters: JsonObject
  readonly places: Readonly<Record<string, 'path' | 'query' | 'header' | 'body'>>
  readonly whole_body: string | null
  readonly encoding: 'json' | 'form'
  readonly risk_level: 'low' | 'high' | 'critical'
}

/** The operations of an OpenAPI document. */
export type OpenApiRead = {
  /** URL of the first server; null when it is not absolute. */
  readonly base_url: string | null
  readonly tools: readonly ReadOperation[]
  /** Number of operations beyond the limit, which were not read. */
  readonly left_out: number
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
const verbs = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
const maxDescription = 1024
const maxName = 64
/** Maximum number of YAML aliases; a document with more is an attack. */
const maxAliases = 100
const ownHeaders = new Set([
  'authorization',
  'accept',
  'content-type',
  'host',
  'cookie',
  'content-length',
  'connection',
])

/** Reads an OpenAPI 3 document in JSON or YAML. @throws {Error} with a message for the caller. */
export const readOpenApiDocument = (text: string, maxTools: number): OpenApiRead => {
  const document: unknown = parsed(text)
  if (!isRecord(document) || typeof document.openapi !== 'string' || !document.openapi.startsWith('3.'))
    throw new Error('The document is not an OpenAPI 3 document.')
  const root = document
  const names = new Set<string>()
  const tools: ReadOperation[] = []
  let leftOut = 0
  for (const [path, item] of Object.entries(isRecord(root.paths) ? root.paths : {})) {
    if (!isRecord(item) || !path.startsWith('/')) continue
    for (const method of methods) {
      const operation = item[method]
      if (!isRecord(operation)) continue
      if (tools.length >= maxTools) leftOut++
      else tools.push(operationOf(root, { path, method, item: item, operation: operation }, names))
    }
  }
  if (tools.length === 0) throw new Error('The document has no operations.')
  return { base_url: serverOf(root), tools, left_out: leftOut }
}

const parsed = (text: string): unknown => {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch {
      throw new Error('The document is not valid JSON.')
    }
  }
  try {
    return parse(text, { maxAliasCount: maxAliases, strict: true })
  } catch {
    throw new Error('The document is not valid YAML.')
  }
}

const serverOf = ({ servers }: JsonObject): string | null => {
  const first = Array.isArray(servers) ? servers[0] : undefined
  const url = isRecord(first) ? first.url : undefined
  return typeof url === 'string' && /^https?:\/\//.test(url) && !url.includes('{') && URL.parse(url) !== null
    ? url
    : null
}

interface Found {
  readonly path: string
  readonly method: (typeof methods)[number]
  readonly item: JsonObject
  readonly operation: JsonObject
}

const operationOf = (root: JsonObject, found: Found, names: Set<string>): ReadOperation => {
  const { path, method, item, operation } = found
  const fields: Record<string, JsonObject> = {}
  const places: Record<string, 'path' | 'query' | 'header' | 'body'> = {}
  const required: string[] = []
  for (const each of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = inlined(root, each)
    if (!isRecord(parameter)) continue
    const { name, in: place, required: isRequired, description } = parameter
    if (typeof name !== 'string' || (place !== 'path' && place !== 'query' && place !== 'header')) continue
    if (place === 'header' && ownHeaders.has(name.toLowerCase())) continue
    const schema = isRecord(parameter.schema) ? parameter.schema : { type: 'string' }
    fields[name] = typeof description === 'string' ? { description: short(description), ...schema } : schema
    places[name] = place
    if ((isRequired === true || place === 'path') && !required.includes(name)) required.push(name)
  }
  const body = bodyOf(root, operation.requestBody)
  const taken = addBody({ fields, places, required }, body)
  return {
    name: nameOf(found, names),
    description: short(textOf(operation.description) ?? textOf(operation.summary) ?? `${method.toUpperCase()} ${path}`),
    method: verbs[method],
    path,
    parameters: { type: 'object', properties: fields, required },
    places,
    whole_body: taken,
    encoding: body?.encoding ?? 'json',
    risk_level: method === 'get' ? 'low' : method === 'delete' ? 'critical' : 'high',
  }
}

interface ReadBody {
  readonly schema: JsonObject
  readonly encoding: 'json' | 'form'
  readonly isRequired: boolean
}

const bodyOf = (root: JsonObject, given: Json | undefined): ReadBody | null => {
  const body = inlined(root, given ?? null)
  if (!isRecord(body) || !isRecord(body.content)) return null
  const entries = Object.entries(body.content)
  const json = entries.find(([type]) => /^application\/([\w.+-]+\+)?json\b/.test(type))
  const form = entries.find(([type]) => type.startsWith('application/x-www-form-urlencoded'))
  const media = json ?? form
  if (media === undefined || !isRecord(media[1])) return null
  const schema = isRecord(media[1].schema) ? media[1].schema : {}
  return { schema, encoding: json === undefined ? 'form' : 'json', isRequired: body.required === true }
}

interface Parameters {
  readonly fields: Record<string, JsonObject>
  readonly places: Record<string, 'path' | 'query' | 'header' | 'body'>
  readonly required: string[]
}

/**
 * Adds the fields of a body as arguments, next to the other parameters. When a name is already taken, the whole body
 * becomes one argument, whose name is returned.
 */
const addBody = ({ fields, places, required }: Parameters, body: ReadBody | null): string | null => {
  if (body === null) return null
  const { properties, required: needed } = body.schema
  const isFlat = isRecord(properties) && Object.keys(properties).every((name) => fields[name] === undefined)
  if (isFlat && isRecord(properties)) {
    for (const [name, schema] of Object.entries(properties)) {
      fields[name] = isRecord(schema) ? schema : {}
      places[name] = 'body'
    }
    if (body.isRequired && Array.isArray(needed)) required.push(...needed.filter((name) => typeof name === 'string'))
    return null
  }
  const name = ['body', 'request_body', 'content_body'].find((each) => fields[each] === undefined) ?? 'whole_body'
  fields[name] = body.schema
  places[name] = 'body'
  if (body.isRequired) required.push(name)
  return name
}

const nameOf = ({ operation, method, path }: Found, names: Set<string>): string => {
  const wanted = textOf(operation.operationId) ?? `${method}_${path}`
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '') || method
  const stem = plain.slice(0, maxName)
  let name = stem
  for (let n = 2; names.has(name); n++) name = `${stem.slice(0, maxName - String(n).length - 1)}_${n}`
  names.add(name)
  return name
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)
const short = (text: string): string => (text.length > maxDescription ? `${text.slice(0, maxDescription - 1)}…` : text)
