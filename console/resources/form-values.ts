import type { Field, Values, Variant } from './types.ts'

/** Text of a field that is edited as JSON, until the form is sent. */
export class JsonDraft {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A field that cannot be sent as it is filled in. */
class FieldError extends Error {
  constructor(path: string, reason: string) {
    super(`${labelOf(path)}: ${reason}`)
    this.name = 'FieldError'
  }
}

/** The words for a field's name: `max_tokens` and `maxTokens` become `Max tokens`. */
export const labelOf = (name: string) => {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.]/g, ' ')
    .toLowerCase()
    .replaceAll(/\b(url|id|usd|mcp|api|json|oidc)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The body of a request from the values of its form: fields that were left empty are absent. @throws {FieldError} */
export const bodyOf = (fields: readonly Field[], values: Values): Record<string, unknown> =>
  groupOf(
    fields.filter(({ path }) => path !== true),
    values,
    '',
  )

/** The parameters of the path among the values of a form. */
export const pathIn = (fields: readonly Field[], values: Values): Record<string, string> =>
  Object.fromEntries(fields.flatMap(({ name, path }) => (path === true ? [[name, String(values[name] ?? '')]] : [])))

/**
 * The body of a change: only fields whose value differs from that of the row. A field that was emptied becomes null
 * where it may.
 *
 * @throws {FieldError}
 */
export const changesOf = (fields: readonly Field[], values: Values, before: Values): Record<string, unknown> => {
  const [now, then] = [bodyOf(fields, values), bodyOf(fields, before)]
  return Object.fromEntries(
    fields.flatMap(({ name, nullable }) => {
      if (JSON.stringify(now[name]) === JSON.stringify(then[name])) return []
      if (now[name] === undefined) return nullable === true ? [[name, null]] : []
      return [[name, now[name]]]
    }),
  )
}

const groupOf = (fields: readonly Field[], values: Values, path: string) => {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value = fieldValue(field, values[field.name], path === '' ? field.name : `${path}.${field.name}`)
    if (value !== undefined) body[field.name] = value
  }
  return body
}

/** @returns undefined: not filled in */
const fieldValue = (field: Field, value: unknown, path: string): unknown => {
  if (value instanceof JsonDraft) return jsonOf(value.text, path)
  if (value === undefined || value === null || value === '') return undefined
  if (field.kind === 'group') {
    const group = groupOf(field.fields ?? [], objectOf(value), path)
    return Object.keys(group).length === 0 && field.required !== true ? undefined : group
  }
  if (field.kind === 'items') return itemsOf(field, value, path)
  if (field.kind === 'lines' || field.kind === 'choices' || field.kind === 'known')
    return Array.isArray(value) && value.length > 0 ? value : undefined
  if (field.kind === 'time') return timeOf(String(value), path)
  if (field.kind !== 'integer' && field.kind !== 'number') return value
  const number = Number(value)
  if (!Number.isFinite(number)) throw new FieldError(path, 'this is not a number.')
  return number
}

const itemsOf = ({ variants = [] }: Field, value: unknown, path: string) => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.map((entry, at) => {
    const variant = variantOf(variants, objectOf(entry))
    if (variant === undefined) return entry
    return { ...variant.fixed, ...groupOf(variant.fields, objectOf(entry), `${path}.${at + 1}`) }
  })
}

/** The kind of an entry, by the values that all of its kind have. */
export const variantOf = (variants: readonly Variant[], entry: Values) =>
  variants.find(({ fixed }) => Object.entries(fixed).every(([name, value]) => entry[name] === value))

const jsonOf = (text: string, path: string) => {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new FieldError(path, 'this is not valid JSON.')
  }
}

const timeOf = (text: string, path: string) => {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw new FieldError(path, 'this is not a time.')
  return time.toISOString()
}

export const objectOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
