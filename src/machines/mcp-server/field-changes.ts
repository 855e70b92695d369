import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { FieldChange } from './known-tools.ts'

/** Most differences of one tool that are listed, and characters that are shown of a value. */
const mostChanges = 50
const shownLength = 2000

/** Where two objects differ, by path, the values shortened. */
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
  if (changes.length >= mostChanges) return
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(own(before, key), own(after, key), { path: path === '' ? key : `${path}.${key}`, changes })
    return
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  changes.push({ path, before: shortened(before), after: shortened(after) })
}

/** What every object inherits is no field: a server may call one `constructor`. */
const own = (value: JsonObject, key: string): Json | undefined => (Object.hasOwn(value, key) ? value[key] : undefined)

const isRecord = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value that is not there is null. */
const shortened = (value: Json | undefined): Json => {
  if (value === undefined) return null
  if (typeof value === 'string') return value.length > shownLength ? `${value.slice(0, shownLength)}…` : value
  const text = JSON.stringify(value)
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : value
}
