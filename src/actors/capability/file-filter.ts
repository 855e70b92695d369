import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalid, needText } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** Returns whether a document with this metadata matches. */
export type FileFilter = (metadata: JsonObject) => boolean

const deepest = 5

/**
 * Parses `filters` of a file search, as in OpenAI's Responses API: comparisons of one key, combined by `and` and `or`.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`
 */
export const fileFilter = (filter: WireObject, path: string, depth = 1): FileFilter => {
  const type = needText(filter.type, `${path}.type`)
  if (type !== 'and' && type !== 'or') return comparison(filter, path, type)
  if (!Array.isArray(filter.filters)) throw invalid(`${path}.filters`, 'must be array')
  if (depth >= deepest) throw invalid(path, `must not be nested deeper than ${deepest}`)
  const all = filter.filters.map((each, at) => fileFilter(objectOf(each), `${path}.filters[${at}]`, depth + 1))
  return type === 'and'
    ? (metadata) => all.every((each) => each(metadata))
    : (metadata) => all.some((each) => each(metadata))
}

const comparison = (filter: WireObject, path: string, type: string): FileFilter => {
  const key = needText(filter.key, `${path}.key`)
  const { value } = filter
  const compare = comparisons[type]
  if (compare === undefined)
    throw invalid(`${path}.type`, `must be one of ${JSON.stringify(['and', 'or', ...Object.keys(comparisons)])}`)
  const takesList = type === 'in' || type === 'nin'
  if (takesList !== Array.isArray(value) || (!takesList && !isPlain(value)))
    throw invalid(`${path}.value`, takesList ? 'must be array' : 'must be string, number or boolean')
  return (metadata) => compare(metadata[key], value)
}

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

type Compare = (held: Json | undefined, wanted: unknown) => boolean

/** Whether a value in the metadata equals the wanted one; a list matches by any of its values. */
const has = (held: Json | undefined, wanted: unknown): boolean =>
  Array.isArray(held) ? held.includes(wanted) : held === wanted

const isAnyOf: Compare = (held, wanted) => Array.isArray(wanted) && wanted.some((each) => has(held, each))

/** Compares numbers by value and texts by code unit; values of other or different types never match. */
const ordered =
  (holds: (order: number) => boolean): Compare =>
  (held, wanted) => {
    if (typeof held === 'number' && typeof wanted === 'number') return holds(held - wanted)
    const text = textOf(held)
    return typeof held === 'string' && typeof wanted === 'string' && holds(text < wanted ? -1 : text > wanted ? 1 : 0)
  }

const comparisons: Readonly<Record<string, Compare>> = {
  eq: has,
  ne: (held, wanted) => !has(held, wanted),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  in: isAnyOf,
  nin: (held, wanted) => !isAnyOf(held, wanted),
}
