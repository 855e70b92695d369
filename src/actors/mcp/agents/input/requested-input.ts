import { createHash } from 'node:crypto'
import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import type { RequiredInput } from '#machines/tool-call/required-input.ts'
import { isSecretKey } from '#records/sanitize.ts'
import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { hiddenText } from '#src/skill-scan/index.ts'

/** A server's request for input from a person. */
export type Question = Pick<RequiredInput, 'mode' | 'message' | 'schema' | 'url' | 'secret_fields'>

/** Maximum length in characters of a message, of a text in a form, and of a URL. */
const maxMessage = 4096
const maxText = 512
const maxUrl = 2048

/** Maximum number of fields of a form, and of options of a field. */
export const maxFields = 32
const maxOptions = 200

const fieldName = /^(?!__proto__$)[\w.-]{1,64}$/

/**
 * Parses a request for input to what the protocol allows, for display to a person.
 *
 * @throws {McpFailure} `bad_answer` for anything else, and for text that a person cannot see
 */
export const questionOf = (params: unknown): Question => {
  if (!isObject(params) || typeof params.message !== 'string') throw unreadable('it has no message')
  const message = visible(params.message.slice(0, maxMessage))
  if (params.mode === 'url') return { mode: 'url', message, schema: null, url: urlOf(params.url), secret_fields: [] }
  if (params.mode !== undefined && params.mode !== 'form') throw unreadable('its mode is not known')
  const schema = formOf(params.requestedSchema)
  return { mode: 'form', message, schema, url: null, secret_fields: secretsOf(schema) }
}

/** Returns a hash of a question, by which a repeated question is recognised. */
export const hashOf = ({ mode, message, schema, url }: Question): string =>
  createHash('sha256')
    .update(JSON.stringify([mode, message, schema, url]))
    .digest('hex')

const unreadable = (why: string): McpFailure =>
  new McpFailure('bad_answer', `The server requests input in a way that is not supported: ${why}.`)

const visible = (text: string): string => {
  if (hiddenText(text).some(({ severity }) => severity === 'blocker')) throw unreadable('it hides text')
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, ' ')
}

/** Returns a URL for a person to open: http or https only, and without credentials, which could disguise its host. */
const urlOf = (value: unknown): string => {
  const url = typeof value === 'string' && value.length <= maxUrl ? URL.parse(value) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw unreadable('its URL is not one to open')
  return url.href
}

const formOf = (value: unknown): JsonObject => {
  if (!isObject(value) || !isObject(value.properties)) throw unreadable('it has no form')
  const entries = Object.entries(value.properties)
  if (entries.length > maxFields) throw unreadable(`its form has more than ${maxFields} fields`)
  const fields = entries.map(([name, field]): [string, JsonObject] => {
    if (!fieldName.test(name) || !isObject(field)) throw unreadable('a field has no plain name')
    return [name, fieldOf(field)]
  })
  const names = new Set(fields.map(([name]) => name))
  const required = Array.isArray(value.required) ? value.required.map(String).filter((name) => names.has(name)) : []
  return { type: 'object', properties: Object.fromEntries(fields), required }
}

const fieldOf = (field: JsonObject): JsonObject => {
  const { type } = field
  const words = textsOf(field, ['title', 'description'])
  if (type === 'boolean') return { type, ...words, ...defaultOf(field, 'boolean') }
  if (type === 'number' || type === 'integer')
    return { type, ...words, ...numbersOf(field, ['minimum', 'maximum']), ...defaultOf(field, 'number') }
  if (type === 'string') {
    const options = optionsOf(field)
    const format = formats.find((each) => each === field.format)
    const limits = { ...numbersOf(field, ['minLength', 'maxLength']), ...(format !== undefined && { format }) }
    return { type, ...words, ...(options ?? limits), ...defaultOf(field, 'string') }
  }
  const items = type === 'array' && isObject(field.items) ? optionsOf(field.items) : null
  if (items === null) throw unreadable('a field is of a type that forms do not have')
  return { type: 'array', ...words, ...numbersOf(field, ['minItems', 'maxItems']), items: { type: 'string', ...items } }
}

const formats = ['email', 'uri', 'date', 'date-time'] as const

/** Returns the options of a field in any of the protocol's formats; null for a field without options. */
const optionsOf = (field: JsonObject): JsonObject | null => {
  const listed = [field.oneOf, field.anyOf].find((each) => Array.isArray(each))
  const titled = Array.isArray(listed)
    ? listed.filter(isObject).map(({ const: value, title }) => ({ const: short(value), title: short(title ?? value) }))
    : null
  const plain = Array.isArray(field.enum) ? field.enum.map((each: Json) => short(each)) : null
  if ((titled ?? plain ?? []).length > maxOptions) throw unreadable('a field has too many choices')
  if (titled !== null) return { oneOf: titled }
  return plain === null ? null : { enum: plain }
}

const short = (value: unknown): string => visible(String(value).slice(0, maxText))

const textsOf = (field: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = field[name]
      return typeof value === 'string' ? [[name, short(value)]] : []
    }),
  )

const numbersOf = (field: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name): [string, number][] => {
      const value = field[name]
      return typeof value === 'number' && Number.isFinite(value) ? [[name, value]] : []
    }),
  )

const defaultOf = ({ default: value }: JsonObject, type: 'boolean' | 'number' | 'string'): JsonObject => {
  if (value === undefined || typeof value !== type) return {}
  return { default: typeof value === 'string' ? short(value) : value }
}

/** Returns the names of fields whose name or title suggests a secret. */
const secretsOf = ({ properties }: JsonObject): readonly string[] =>
  Object.entries(isObject(properties) ? properties : {})
    .filter(([name, field]) => isSecretKey(name) || (isObject(field) && isSecretKey(String(field.title ?? ''))))
    .map(([name]) => name)
