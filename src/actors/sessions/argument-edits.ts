import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { mask, sanitized } from '../records/sanitize.ts'
import { isObject } from '../runtime/index.ts'

/** One value that an approval changed. `before` is absent for an added value, `after` for a removed one. */
export interface ArgumentEdit {
  /** JSON Pointer (RFC 6901). */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

/** Most edits that an action shows. */
export const maxEdits = 100

/**
 * Returns the edited arguments as the tool gets them, as JSON text. A masked value that was sent back unchanged is
 * replaced by the stored value, so an approver who sees masks can edit the fields around them.
 *
 * @throws {ServiceError} `invalid_field` for a mask at a place that has no stored value.
 */
export const editedArguments = (edited: JsonObject, stored: string): string => {
  const original: Json = JSON.parse(stored)
  return JSON.stringify(restored(edited, { original, shown: sanitized(original) }, 'arguments'))
}

/** A stored value and its masked form; both undefined where there is no value. */
interface Shown {
  readonly original: Json | undefined
  readonly shown: Json | undefined
}

const restored = (sent: Json, { original, shown }: Shown, param: string): Json => {
  if (isBranch(sent)) {
    const entries = Object.entries(sent).map(([key, value]): [string, Json] => {
      const place = { original: childOf(original, key), shown: childOf(shown, key) }
      return [key, restored(value ?? null, place, `${param}.${key}`)]
    })
    return Array.isArray(sent) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
  }
  if (sent === shown && original !== undefined) return original
  if (typeof sent !== 'string' || !sent.includes(mask)) return sent
  throw invalidField(
    param,
    `${mask} stands for a stored value, but there is none at this place. Send the value itself.`,
  )
}

/** The changes that an approval made, with secrets masked as in the arguments themselves. */
export const editsBetween = (before: Json, after: Json): ArgumentEdit[] => {
  const edits: ArgumentEdit[] = []
  const sides = { before: shownOf(before), after: shownOf(after) }
  collect(edits, sides, '')
  return edits
}

const shownOf = (original: Json): Shown => ({ original, shown: sanitized(original) })

interface Sides {
  readonly before: Shown
  readonly after: Shown
}

const collect = (edits: ArgumentEdit[], { before, after }: Sides, path: string): void => {
  if (edits.length >= maxEdits) return
  if (!isWalked(before, after)) {
    if (JSON.stringify(before.original) === JSON.stringify(after.original)) return
    edits.push({
      path,
      ...(before.shown !== undefined && { before: before.shown }),
      ...(after.shown !== undefined && { after: after.shown }),
    })
    return
  }
  const keys = new Set([...keysOf(before.original), ...keysOf(after.original)])
  for (const key of keys) {
    collect(edits, { before: inside(before, key), after: inside(after, key) }, `${path}/${escaped(key)}`)
  }
}

/**
 * Whether two values are compared field by field: two objects, or two lists of equal length, neither masked as a whole.
 */
const isWalked = (before: Shown, after: Shown): boolean => {
  const values = [before.original, after.original, before.shown, after.shown]
  if (!values.every(isBranch)) return false
  const [left, right] = [before.original, after.original]
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && left.length === right.length
  }
  return true
}

const inside = ({ original, shown }: Shown, key: string): Shown => ({
  original: childOf(original, key),
  shown: childOf(shown, key),
})

const isBranch = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === 'object' && value !== null

const keysOf = (value: Json | undefined): readonly string[] => (isBranch(value) ? Object.keys(value) : [])

const childOf = (value: Json | undefined, key: string): Json | undefined => {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
