import { isObject } from '#outgoing/wire.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** A part of a caller's JSON Schema. */
export type DataSchema = JsonObject

/** Returns the types that a schema accepts, in its order. */
export const typesOf = ({ type, properties, items, enum: choices }: DataSchema): readonly string[] => {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string')
  if (isObject(properties)) return ['object']
  if (isObject(items)) return ['array']
  return choices === undefined ? ['string', 'number', 'boolean'] : ['string']
}

/** Converts text of a page to a scalar of the schema; undefined when it does not fit. */
export const scalarFor = (schema: DataSchema, raw: Json): Json | undefined => {
  if (raw === null || typeof raw === 'object') return undefined
  const text = String(raw).trim()
  if (text === '') return undefined
  if (Array.isArray(schema.enum)) return choiceIn(schema.enum, text)
  for (const type of typesOf(schema)) {
    const value = as(type, schema, text)
    if (value !== undefined) return value
  }
  return undefined
}

const as = (type: string, { format }: DataSchema, text: string): Json | undefined => {
  if (type === 'number') return numberIn(text)
  if (type === 'integer') {
    const value = numberIn(text)
    return value !== undefined && Number.isInteger(value) ? value : undefined
  }
  if (type === 'boolean') return truthIn(text)
  if (type !== 'string') return undefined
  if (format === 'date' || format === 'date-time') return timeIn(text, format)
  return text
}

/** Returns the matching choice; also accepts schema.org URLs such as `https://schema.org/InStock`. */
const choiceIn = (choices: readonly Json[], text: string): Json | undefined => {
  const plain = (value: Json): string =>
    String(value)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '')
  const last = text.slice(text.lastIndexOf('/') + 1)
  return choices.find((choice) => plain(choice) === plain(text) || plain(choice) === plain(last))
}

/** Parses the first number in a text, in the usual notations: `1,299.00`, `1.299,00 €`, `12 %`. */
export const numberIn = (text: string): number | undefined => {
  const [found] =
    /[-−]?(?:\d{1,3}(?: \d{3})+(?!\d)|\d)[\d.,'\u00a0\u202f]*(?:[eE][+-]?\d{1,3})?/.exec(text.slice(0, 200)) ?? []
  if (found === undefined) return undefined
  const written = found.replace('−', '-').replace(/[' \u00a0\u202f]/g, '')
  const digits = written.slice(0, written.search(/\d[.,]*$/) + 1)
  const [comma, point] = [digits.lastIndexOf(','), digits.lastIndexOf('.')]
  const isDecimalComma = comma > point && (point !== -1 || !/^-?\d{1,3}(,\d{3})+$/.test(digits))
  const plain = isDecimalComma ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', '')
  const isGrouped = !isDecimalComma && /^-?\d{1,3}(\.\d{3}){2,}$/.test(plain)
  const value = Number(isGrouped ? plain.replaceAll('.', '') : plain)
  return Number.isFinite(value) ? value : undefined
}

const truthIn = (text: string): boolean | undefined => {
  if (/^(?:true|yes|y|1|on|available|(?:https?:\/\/schema\.org\/)?instock|in stock)$/i.test(text)) return true
  return /^(?:false|no|n|0|off|unavailable|(?:https?:\/\/schema\.org\/)?(?:outofstock|soldout)|out of stock|sold out)$/i.test(
    text,
  )
    ? false
    : undefined
}

const timeIn = (text: string, format: 'date' | 'date-time'): string | undefined => {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? []
  if (format === 'date' && day !== undefined) return day
  // times without a zone are taken as UTC, so that the result does not depend on the zone of this server
  const time = Date.parse(
    /[zZ]|[+-]\d\d:?\d\d$|\bGMT|\bUTC/.test(text) || /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : `${text} UTC`,
  )
  if (text.length > 64 || !/\d{4}/.test(text) || Number.isNaN(time)) return undefined
  const iso = new Date(time).toISOString()
  return format === 'date' ? iso.slice(0, 10) : iso
}
