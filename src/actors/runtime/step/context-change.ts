import type { Json, JsonObject } from '#storage/ports.ts'

/** Longer texts, and texts that may be JSON, are shown as their length: they are in the log, or withheld on purpose. */
const longestText = 64
/** A field whose summary is longer than this is shown as its length, in UTF-16 units of JSON. */
const longestField = 1_000
const maxItems = 12
const maxLevels = 4

/**
 * Summarises, field by field, how a step changed its machine's context: this is what readers of the history see
 * (specs/decisions/0178-observation.md).
 *
 * @param before null for the first step
 * @returns the fields whose value changed; undefined when none did
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

/** Summary of a field whose value changed; undefined when the summary is the same as before. */
const changedSummary = (value: unknown, old: unknown): Json | undefined => {
  // most changed fields are primitive: their summaries need no comparison
  if (value === null || typeof value === 'number' || typeof value === 'boolean')
    return value === old ? undefined : value
  if (typeof value === 'string' && (old === null || typeof old === 'string')) return changedText(value, old)
  if (old !== undefined && isShownAlike(value, old, maxLevels)) return undefined
  const { summary, length } = fieldSummary(value)
  if (length <= longestField) return summary
  return old !== undefined && fieldSummary(old).length === length ? undefined : { $length: length }
}

/**
 * Whether two values have the same summary, without making it: most lists and objects that a step replaces have the same
 * content as before.
 */
const isShownAlike = (value: unknown, old: unknown, levels: number): boolean => {
  if (value === old) return true
  if (typeof value === 'string') return typeof old === 'string' && isTextShownAlike(value, old)
  if (!isCollection(value) || !isCollection(old)) return false
  const { length } = itemsOf(value)
  if (length !== itemsOf(old).length) return false
  if (levels === 0 || length > maxItems) return true
  if (Array.isArray(value) !== Array.isArray(old)) return false
  const before = Object.keys(old)
  return Object.keys(value).every(
    (key, at) => key === before[at] && isShownAlike(Reflect.get(value, key), Reflect.get(old, key), levels - 1),
  )
}

/** Long collections are only counted, since this runs for each commit. */
const itemsOf = (value: object): readonly unknown[] => (Array.isArray(value) ? value : Object.keys(value))

const isTextShownAlike = (value: string, old: string): boolean =>
  value.length === old.length && !isShort(value) && !isShort(old)

const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null

const changedText = (value: string, old: string | null): Json | undefined => {
  if (value === old) return undefined
  if (isShort(value)) return value
  return old?.length === value.length && !isShort(old) ? undefined : { $length: value.length }
}

/** Summary of a field, and its length in JSON. */
const fieldSummary = (value: unknown): { readonly summary: Json; readonly length: number } => {
  const summary = summaryOf(value, maxLevels)
  return { summary, length: JSON.stringify(summary).length }
}

const summaryOf = (value: unknown, levels: number): Json => {
  if (typeof value === 'string') return isShort(value) ? value : { $length: value.length }
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  const { length } = itemsOf(value)
  if (levels === 0 || length > maxItems) return { $items: length }
  if (Array.isArray(value)) return value.map((each) => summaryOf(each, levels - 1))
  const summary: { [field: string]: Json } = {}
  for (const key of Object.keys(value)) define(summary, key, summaryOf(Reflect.get(value, key), levels - 1))
  return summary
}

/** Like an assignment, except for `__proto__`, for which objects inherit a setter. */
const define = (summary: { [field: string]: Json }, key: string, value: Json): void => {
  if (key === '__proto__')
    Object.defineProperty(summary, key, { value, enumerable: true, writable: true, configurable: true })
  else summary[key] = value
}

const isShort = (text: string): boolean => text.length <= longestText && !/^\s*[[{"]/.test(text)
