import type { ActionContext } from '#machines/action/action-data.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'

/** Most characters of a text field without `maxLength`. */
const maxText = 8192

/**
 * Validates a person's answer to a form that a tool server requested, and returns it as JSON text; undefined where no
 * form is requested.
 *
 * @throws {ServiceError} `invalid_field` for values that the form does not accept, and for values where no form is
 * requested; `missing_field` for a required value.
 */
export const inputValues = (
  { input }: Pick<ActionContext, 'input'>,
  content: JsonObject | undefined,
): string | undefined => {
  const schema = isObject(input) && isObject(input.schema) ? input.schema : null
  if (schema === null) {
    if (content === undefined) return undefined
    throw invalidField('content', 'No server requests values here.')
  }
  return JSON.stringify(checked(schema, { ...defaultsOf(schema), ...content }))
}

/** Returns the valid defaults of a form, by name of the field. They apply to fields that the answer omits. */
const defaultsOf = ({ properties }: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {}).flatMap(([name, field]) => {
      const value = isObject(field) ? field.default : undefined
      return isObject(field) && value !== undefined && refusal(field, value) === null ? [[name, value]] : []
    }),
  )

const checked = ({ properties, required }: JsonObject, content: JsonObject): JsonObject => {
  const fields = isObject(properties) ? properties : {}
  for (const name of Array.isArray(required) ? required.map(String) : []) {
    if (content[name] === undefined || content[name] === null)
      throw new ServiceError('missing_field', { param: `content.${name}` })
  }
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const why = isObject(field) ? refusal(field, value ?? null) : 'The form has no such field.'
    if (why !== null) throw invalidField(`content.${name}`, why)
  }
  return content
}

/** Why a field does not accept a value; null when it does. */
const refusal = (field: JsonObject, value: Json): string | null => {
  if (field.type === 'boolean') return typeof value === 'boolean' ? null : 'It is true or false.'
  if (field.type === 'number' || field.type === 'integer') return numberRefusal(field, value)
  if (field.type === 'array') return listRefusal(field, value)
  return textRefusal(field, value)
}

const numberRefusal = (field: JsonObject, value: Json): string | null => {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'It is a number.'
  if (field.type === 'integer' && !Number.isInteger(value)) return 'It is a whole number.'
  if (typeof field.minimum === 'number' && value < field.minimum) return `It is at least ${field.minimum}.`
  return typeof field.maximum === 'number' && value > field.maximum ? `It is at most ${field.maximum}.` : null
}

const listRefusal = (field: JsonObject, value: Json): string | null => {
  const choices = isObject(field.items) ? choicesOf(field.items) : null
  if (!Array.isArray(value) || choices === null) return 'It is a list of choices.'
  if (!value.every((each: Json) => typeof each === 'string' && choices.has(each)))
    return 'A value is not one of the choices.'
  if (typeof field.minItems === 'number' && value.length < field.minItems) return `It has ${field.minItems} or more.`
  if (new Set(value).size !== value.length) return 'A choice is there twice.'
  return typeof field.maxItems === 'number' && value.length > field.maxItems
    ? `It has ${field.maxItems} at most.`
    : null
}

const textRefusal = (field: JsonObject, value: Json): string | null => {
  if (typeof value !== 'string') return 'It is text.'
  const choices = choicesOf(field)
  if (choices !== null) return choices.has(value) ? null : 'It is not one of the choices.'
  const length = [...value].length
  if (typeof field.minLength === 'number' && length < field.minLength)
    return `It is too short: ${field.minLength} or more.`
  const max = typeof field.maxLength === 'number' ? Math.min(field.maxLength, maxText) : maxText
  if (length > max) return `It is too long: ${max} at most.`
  return typeof field.format === 'string' && !hasFormat(field.format, value) ? `It is no ${field.format}.` : null
}

const choicesOf = ({ enum: plain, oneOf: titled }: JsonObject): ReadonlySet<string> | null => {
  if (Array.isArray(titled)) return new Set(titled.filter(isObject).map((each) => String(each.const)))
  return Array.isArray(plain) ? new Set(plain.map(String)) : null
}

const hasFormat = (format: string, value: string): boolean => {
  if (format === 'email') return /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value)
  if (format === 'uri') return URL.parse(value) !== null
  if (format === 'date') return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
  return !Number.isNaN(Date.parse(value))
}
