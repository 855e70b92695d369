import type { Json, JsonObject } from '#storage/ports.ts'

/** Texts that are longer, or that may be JSON, stand as their length: they are in the log, or nowhere on purpose. */
const longestText = 64
/** A field whose summary is longer stands as its length, in UTF-16 units of JSON. */
const longestField = 1_000
const mostItems = 12
const mostLevels = 4

/**
 * What a step did to its machine's context, field by field, in summary: what a reader of the history sees of it
 * (specs/decisions/0183-contexts-of-the-past.md).
 *
 * @param before null for the first step
 * @returns the fields that are another than before; undefined when none is
 */
export const contextChange = (before: object | null, after: object): JsonObject | undefined => {
  let changed: { [field: string]: Json } | undefined
  for (const field in after) {
    const value: unknown = Reflect.get(after, field)
    const old: unknown = before === null ? undefined : Reflect.get(before, field)
    if (value === undefined || (before !== null && value === old)) continue
    const summary = changedSummary(value, old)
    if (summary === undefined) continue
    changed ??= {}
    changed[field] = summary
  }
  return changed
}

/** What a history shows of a field that is another value than before; undefined where it shows the same. */
const changedSummary = (value: unknown, old: unknown): Json | undefined => {
  // most fields that change are plain: what is written of them need not be compared
  if (value === null || typeof value === 'number' || typeof value === 'boolean')
    return value === old ? undefined : value
  if (typeof value === 'string' && (old === null || typeof old === 'string')) return changedText(value, old)
  const shown = fieldSummary(value)
  return old !== undefined && fieldSummary(old).text === shown.text ? undefined : shown.summary
}

const changedText = (value: string, old: string | null): Json | undefined => {
  if (value === old) return undefined
  if (isShort(value)) return value
  return old?.length === value.length && !isShort(old) ? undefined : { $length: value.length }
}

/** A field as a history shows it, and what two of them are compared by. */
const fieldSummary = (value: unknown): { readonly summary: Json; readonly text: string } => {
  const summary = summaryOf(value, mostLevels)
  const text = JSON.stringify(summary)
  if (text.length <= longestField) return { summary, text }
  const { length } = text
  return { summary: { $length: length }, text: `length ${length}` }
}

const summaryOf = (value: unknown, levels: number): Json => {
  if (typeof value === 'string') return isShort(value) ? value : { $length: value.length }
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  // each commit comes here: what is long is counted only
  const { length } = Array.isArray(value) ? value : Object.keys(value)
  if (levels === 0 || length > mostItems) return { $items: length }
  if (Array.isArray(value)) return value.map((each) => summaryOf(each, levels - 1))
  const summary: { [field: string]: Json } = {}
  for (const key of Object.keys(value)) define(summary, key, summaryOf(Reflect.get(value, key), levels - 1))
  return summary
}

/** As an assignment, but for the one name that an object inherits a setter for. */
const define = (summary: { [field: string]: Json }, key: string, value: Json): void => {
  if (key === '__proto__')
    Object.defineProperty(summary, key, { value, enumerable: true, writable: true, configurable: true })
  else summary[key] = value
}

const isShort = (text: string): boolean => text.length <= longestText && !/^\s*[[{"]/.test(text)
