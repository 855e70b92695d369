/**
 * @typedef {import('./types.js').Field} Field
 * @typedef {import('./types.js').Values} Values
 */

/** Text of a field that is edited as JSON, until the form is sent. */
export class JsonDraft {
  /** @param {string} text */
  constructor(text) {
    this.text = text
  }
}

/** A field that cannot be sent as it is filled in. */
class FieldError extends Error {
  /** @param {string} path @param {string} reason */
  constructor(path, reason) {
    super(`${labelOf(path)}: ${reason}`)
    this.name = 'FieldError'
  }
}

/** The words for a field's name: `max_tokens` and `maxTokens` become `Max tokens`. @param {string} name */
export const labelOf = (name) => {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.]/g, ' ')
    .toLowerCase()
    .replaceAll(/\b(url|id|usd|mcp|api|json|oidc)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * The body of a request from the values of its form: fields that were left empty are absent.
 *
 * @param {readonly Field[]} fields
 * @param {Values} values
 * @returns {Record<string, unknown>}
 * @throws {FieldError}
 */
export const bodyOf = (fields, values) =>
  groupOf(
    fields.filter(({ path }) => path !== true),
    values,
    '',
  )

/** The parameters of the path among the values of a form. @param {readonly Field[]} fields @param {Values} values @returns {Record<string, string>} */
export const pathIn = (fields, values) =>
  Object.fromEntries(fields.flatMap(({ name, path }) => (path === true ? [[name, String(values[name] ?? '')]] : [])))

/**
 * The body of a change: only fields whose value differs from that of the row. A field that was emptied becomes null
 * where it may.
 *
 * @param {readonly Field[]} fields
 * @param {Values} values
 * @param {Values} before
 * @returns {Record<string, unknown>}
 * @throws {FieldError}
 */
export const changesOf = (fields, values, before) => {
  const [now, then] = [bodyOf(fields, values), bodyOf(fields, before)]
  return Object.fromEntries(
    fields.flatMap(({ name, nullable }) => {
      if (JSON.stringify(now[name]) === JSON.stringify(then[name])) return []
      if (now[name] === undefined) return nullable === true ? [[name, null]] : []
      return [[name, now[name]]]
    }),
  )
}

/** @param {readonly Field[]} fields @param {Values} values @param {string} path */
const groupOf = (fields, values, path) => {
  /** @type {Record<string, unknown>} */
  const body = {}
  for (const field of fields) {
    const value = fieldValue(field, values[field.name], path === '' ? field.name : `${path}.${field.name}`)
    if (value !== undefined) body[field.name] = value
  }
  return body
}

/** @param {Field} field @param {unknown} value @param {string} path @returns {unknown} undefined: not filled in */
const fieldValue = (field, value, path) => {
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

/** @param {Field} field @param {unknown} value @param {string} path */
const itemsOf = ({ variants = [] }, value, path) => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.map((entry, at) => {
    const variant = variantOf(variants, objectOf(entry))
    if (variant === undefined) return entry
    return { ...variant.fixed, ...groupOf(variant.fields, objectOf(entry), `${path}.${at + 1}`) }
  })
}

/** The kind of an entry, by the values that all of its kind have. @param {readonly import('./types.js').Variant[]} variants @param {Values} entry */
export const variantOf = (variants, entry) =>
  variants.find(({ fixed }) => Object.entries(fixed).every(([name, value]) => entry[name] === value))

/** @param {string} text @param {string} path */
const jsonOf = (text, path) => {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new FieldError(path, 'this is not valid JSON.')
  }
}

/** @param {string} text @param {string} path */
const timeOf = (text, path) => {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw new FieldError(path, 'this is not a time.')
  return time.toISOString()
}

/** @param {unknown} value @returns {Values} */
export const objectOf = (value) =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
