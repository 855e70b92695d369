import type { Json, ListFilter, RecordKind } from './ports.ts'
import type { Scope } from './scope.ts'

type Where = { readonly [field: string]: Json } | undefined

/** An index for lists: records of a scope in which these fields have one value each, ordered by id. */
export interface ListIndex {
  readonly name: string
  /** Columns of the scope, the widest first. */
  readonly owner: readonly ('project' | 'tenant' | 'user')[]
  readonly fields: readonly string[]
  readonly narrow: boolean
}

/** A kind's filters in normal form. */
export const filtersOf = ({ filters = [] }: RecordKind): readonly ListFilter[] =>
  filters.map((filter) => (typeof filter === 'string' ? { fields: [filter] } : filter))

/** Every index for lists of the kind. */
export const listIndexes = (kind: RecordKind): readonly ListIndex[] => [
  { name: 'by_project', owner: ['project'], fields: [], narrow: false },
  { name: 'by_tenant', owner: ['project', 'tenant'], fields: [], narrow: false },
  { name: 'by_user', owner: ['project', 'tenant', 'user'], fields: [], narrow: false },
  ...filtersOf(kind).map(({ fields, within = 'project', narrow = false }) => ({
    name: ['filter', ...(within === 'project' ? [] : [within]), fields.join('__')].join('_'),
    owner: ownersWithin[within],
    fields,
    narrow,
  })),
]

/**
 * Returns the index for a list with these conditions, regardless of the database's choice: one whose fields are all the
 * conditions, or a narrow one, and of those the one that covers most conditions. Null when a unique key selects one
 * record anyway.
 *
 * @throws {Error} for conditions that are not declared together (a programming error: such a list would scan records).
 */
export const listIndexFor = (kind: RecordKind, scope: Scope, where: Where): ListIndex | null => {
  const given = Object.keys(where ?? {})
  const fit = listIndexes(kind).filter(
    ({ owner, fields, narrow }) =>
      owner.every((column) => scope[column] !== null) &&
      fields.every((field) => given.includes(field)) &&
      (narrow || fields.length === given.length),
  )
  const [best] = fit.sort((a, b) => b.fields.length - a.fields.length || b.owner.length - a.owner.length)
  if (best !== undefined) return best
  if ((kind.unique ?? []).some(({ fields }) => fields.every((field) => given.includes(field)))) return null
  throw new Error(`${kind.name} has no index on ${given.join(' and ')}`)
}

/**
 * Returns those of a list's conditions by which one index finds rows of exactly this scope, as many as possible. The
 * caller checks the others on each row, and bounds how many it reads for a page: in this scope no index covers them.
 */
export const coveredWhere = (
  kind: RecordKind,
  scope: Scope,
  wanted: Readonly<Record<string, Json | undefined>>,
): Readonly<Record<string, Json>> => {
  const given = Object.entries(wanted).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  const names = given.map(([field]) => field)
  const columns = ownersWithin[scope.user !== null ? 'user' : scope.tenant !== null ? 'tenant' : 'project'].length
  const [best] = listIndexes(kind)
    .filter(
      ({ owner, fields, narrow }) =>
        (narrow ? owner.length <= columns : owner.length === columns) && fields.every((field) => names.includes(field)),
    )
    .sort((a, b) => Number(b.narrow) - Number(a.narrow) || b.fields.length - a.fields.length)
  return Object.fromEntries(given.filter(([field]) => best?.fields.includes(field)))
}

/**
 * Filters on every non-empty combination of these fields within each of these scopes, for a list whose filters callers
 * may combine freely. It takes 2^n - 1 indexes per scope, so it does not suit records that are written often.
 */
export const everyChoiceOf = (
  fields: readonly string[],
  scopes: readonly NonNullable<ListFilter['within']>[],
): readonly ListFilter[] => {
  const choices = Array.from({ length: 2 ** fields.length - 1 }, (_, nth) =>
    fields.filter((_field, at) => ((nth + 1) >> at) % 2 === 1),
  )
  return scopes.flatMap((within) => choices.map((choice) => ({ fields: choice, within })))
}

const ownersWithin = {
  project: ['project'],
  tenant: ['project', 'tenant'],
  user: ['project', 'tenant', 'user'],
} as const
