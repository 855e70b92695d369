import { objectOf, type WireObject } from '#outgoing/wire.ts'
import { invalid, needText } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** A filter of a file search, as in OpenAI's Responses API: comparisons of one key, combined by `and` and `or`. */
export type FileFilter =
  | { readonly type: 'and' | 'or'; readonly filters: readonly FileFilter[] }
  | { readonly type: Comparison; readonly key: string; readonly value: Json }

const deepest = 5

/** Parses `filters` of a file search. @throws {ServiceError} `invalid_field`, `missing_field` */
export const fileFilter = (filter: WireObject, path: string, depth = 1): FileFilter => {
  const type = needText(filter.type, `${path}.type`)
  if (type !== 'and' && type !== 'or') return comparison(filter, path, type)
  if (!Array.isArray(filter.filters)) throw invalid(`${path}.filters`, 'must be array')
  if (depth >= deepest) throw invalid(path, `must not be nested deeper than ${deepest}`)
  const filters = filter.filters.map((each, at) => fileFilter(objectOf(each), `${path}.filters[${at}]`, depth + 1))
  return { type, filters }
}

/** Whether a document with this metadata matches. */
export const matchesFile = (filter: FileFilter, metadata: JsonObject): boolean => {
  if ('key' in filter) return comparisons[filter.type](metadata[filter.key], filter.value)
  const matches = (each: FileFilter): boolean => matchesFile(each, metadata)
  return filter.type === 'and' ? filter.filters.every(matches) : filter.filters.some(matches)
}

const comparison = (filter: WireObject, path: string, type: string): FileFilter => {
  const key = needText(filter.key, `${path}.key`)
  const { value } = filter
  if (!isComparison(type))
    throw invalid(`${path}.type`, `must be one of ${JSON.stringify(['and', 'or', ...Object.keys(comparisons)])}`)
  const takesList = type === 'in' || type === 'nin'
  if (takesList && Array.isArray(value)) return { type, key, value: value.filter(isPlain) }
  if (takesList) throw invalid(`${path}.value`, 'must be array')
  if (value === null || !isPlain(value)) throw invalid(`${path}.value`, 'must be string, number or boolean')
  return { type, key, value }
}

/** Whether a value can equal one of the metadata; lists may contain others, which nothing equals. */
const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

type Compare = (held: Json | undefined, wanted: Json) => boolean

/** Whether a value in the metadata equals the wanted one; a list matches by any of its values. */
const has: Compare = (held, wanted) => (Array.isArray(held) ? held.includes(wanted) : held === wanted)

const isAnyOf: Compare = (held, wanted) => Array.isArray(wanted) && wanted.some((each) => has(held, each))

/** Compares numbers by value and texts by code unit; values of other or different types never match. */
const ordered =
  (holds: (order: number) => boolean): Compare =>
  (held, wanted) => {
    if (typeof held === 'number' && typeof wanted === 'number') return holds(held - wanted)
    return typeof held === 'string' && typeof wanted === 'string' && holds(held < wanted ? -1 : held > wanted ? 1 : 0)
  }

const comparisons = {
  eq: has,
  ne: (held, wanted) => !has(held, wanted),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  in: isAnyOf,
  nin: (held, wanted) => !isAnyOf(held, wanted),
} as const satisfies Readonly<Record<string, Compare>>

type Comparison = keyof typeof comparisons

const isComparison = (type: string): type is Comparison => Object.hasOwn(comparisons, type)
