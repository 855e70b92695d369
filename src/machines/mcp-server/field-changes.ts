import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { FieldChange } from './known-tools.ts'

/** Most listed differences of a tool, and most characters shown of a value. */
const maxChanges = 50
const shownLength = 2000

/** Returns the differences of two objects, by path, with long values truncated. */
export const fieldChanges = (before: JsonObject, after: JsonObject): readonly FieldChange[] => {
  const changes: FieldChange[] = []
  compare(before, after, { path: '', changes })
  return changes
}

interface Walk {
  readonly path: string
  readonly changes: FieldChange[]
}

const compare = (before: Json | undefined, after: Json | undefined, walk: Walk): void => {
  const { path, changes } = walk
  if (changes.length >= maxChanges) return
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(own(before, key), own(after, key), { path: path === '' ? key : `${path}.${key}`, changes })
    return
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  changes.push({ path, before: shortened(before), after: shortened(after) })
}

/** An own property of an object; inherited ones are ignored, since a server may name a field `constructor`. */
const own = (value: JsonObject, key: string): Json | undefined => (Object.hasOwn(value, key) ? value[key] : undefined)

const isRecord = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Truncates a value; null for a missing one. */
const shortened = (value: Json | undefined): Json => {
  if (value === undefined) return null
  if (typeof value === 'string') return value.length > shownLength ? `${value.slice(0, shownLength)}…` : value
  const text = JSON.stringify(value)
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : value
}
