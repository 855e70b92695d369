import { ServiceError } from '../errors/errors.ts'
import type { JsonSchema, Shape } from './schema.ts'

/** Parses the declared parameters of a query string. */
export type QueryParser = (text: string) => Record<string, unknown>

type Read = (text: string, name: string) => unknown

/**
 * Returns a parser for these parameters. Values are converted to their declared types. A list is a repeated key, a
 * comma-separated text, or both. Any other key may occur once, since it would be ambiguous which of two values was
 * meant.
 *
 * @param others undeclared names that are ignored; null: all.
 *
 * @throws {ServiceError} `invalid_query` (from the parser) with the parameter's name.
 */
export const queryParser = (shape: Shape, others: readonly string[] | null): QueryParser => {
  const lists = new Map<string, Read>()
  const singles = new Map<string, Read>()
  for (const [name, { json }] of Object.entries(shape)) {
    if (json.type === 'array') lists.set(name, reader(json.items ?? {}))
    else singles.set(name, reader(json))
  }
  return (text) => {
    const query: Record<string, unknown> = {}
    for (const [name, value] of pairs(text)) {
      const single = singles.get(name)
      const list = lists.get(name)
      if (single !== undefined) addSingle(query, name, single(value, name))
      else if (list !== undefined) addItems(query, name, { text: value, read: list })
      else if (others !== null && !others.includes(name)) throw wrong(name, 'is not a parameter of this operation')
    }
    return query
  }
}

/**
 * Converts the text fields of a form to their declared types. Undeclared fields stay text and may be repeated
 * (`timestamp_granularities[]`); the schema decides about them.
 *
 * @throws {ServiceError} `invalid_field` with the field's name
 */
export const formFields = (
  { properties = {} }: JsonSchema,
  fields: readonly (readonly [name: string, value: string])[],
): Record<string, unknown> => {
  const body: Record<string, unknown> = {}
  for (const [name, text] of fields) {
    try {
      const json = properties[name]
      if (json === undefined) body[name] = text
      else if (json.type === 'array') addItems(body, name, { text, read: reader(json.items ?? {}) })
      else addSingle(body, name, reader(json)(text, name))
    } catch (error) {
      throw error instanceof ServiceError
        ? new ServiceError('invalid_field', { ...error.details, cause: error })
        : error
    }
  }
  return body
}

const addSingle = (query: Record<string, unknown>, name: string, value: unknown): void => {
  if (Object.hasOwn(query, name)) throw wrong(name, 'may be given once')
  query[name] = value
}

const addItems = (
  query: Record<string, unknown>,
  name: string,
  { text, read }: { readonly text: string; readonly read: Read },
): void => {
  const before = query[name]
  const items = text.split(',').map((item) => read(item.trim(), name))
  query[name] = Array.isArray(before) ? [...before, ...items] : items
}

const reader = ({ type }: JsonSchema): Read => {
  const kind = typeof type === 'string' ? type : type?.find((each) => each !== 'null')
  if (kind === 'integer' || kind === 'number') return readNumber
  if (kind === 'boolean') return readBoolean
  if (kind === 'object') return readObject
  return (text) => text
}

const readNumber: Read = (text, name) => {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw wrong(name, 'must be a number')
  return Number(text)
}

const readBoolean: Read = (text, name) => {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw wrong(name, 'must be true or false')
}

/** Parses an object in a form, which is JSON with at most the depth of a JSON body. */
const readObject: Read = (text, name) => {
  if (depthOf(text) > maxObjectDepth) throw wrong(name, 'is nested too deep')
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(name, 'must be a JSON object')
  }
}

const maxObjectDepth = 64

const depthOf = (text: string): number => {
  let [depth, max] = [0, 0]
  for (const char of text) {
    if (char === '{' || char === '[') max = Math.max(max, ++depth)
    else if (char === '}' || char === ']') depth -= 1
  }
  return max
}

function* pairs(text: string): Generator<readonly [name: string, value: string]> {
  if (text === '') return
  for (const part of text.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decode(at < 0 ? part : part.slice(0, at), null)
    yield [name, at < 0 ? '' : decode(part.slice(at + 1), name)]
  }
}

const decode = (text: string, name: string | null): string => {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw wrong(name ?? text, 'is not percent-encoded UTF-8')
  }
}

const wrong = (param: string, rule: string): ServiceError =>
  new ServiceError('invalid_query', { param, message: `${param} ${rule}.` })
