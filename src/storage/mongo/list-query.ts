import type { Filter } from 'mongodb'
import { type ListIndex, listIndexFor } from '../list-index.ts'
import type { Json, JsonObject, RecordKind } from '../ports.ts'
import { conditions, fieldText, uniqueKeyFor } from '../record-keys.ts'
import { narrowedScope, type Scope } from '../scope.ts'
import { listMark, listsField } from './row-lists.ts'
import type { RecordDocument } from './schema.ts'

type Where = { readonly [field: string]: Json } | undefined

/** What a list reads: a filter, and the index that serves it. */
interface ListQuery {
  readonly filter: Filter<RecordDocument>
  readonly options: { readonly hint?: string }
}

/** The index on the lists that rows are in. */
export const listsIndex = (field: string): string => field

/** The index on the rows of a project, of a tenant or of a user. */
export const ownerIndex = ({ owner }: Pick<ListIndex, 'owner'>): string => `rows_of_${owner.at(-1)}`

/**
 * Returns the filter and the index of a list. The index is a hint: MongoDB would keep the plan that it chose for one
 * caller, for others with differently distributed rows. Rows of a release that declares other lists carry no marks of
 * this one. There are a few of them while both run: they are merged into each list by the values themselves.
 */
export const listQuery = (kind: RecordKind, scope: Scope, where: Where): ListQuery => {
  const { index, owners } = placeOf(kind, scope, where)
  const filter = { ...inScope(scope), ...filtered(kind, where) }
  const field = listsField(kind)
  if (index === null) return { filter, options: {} }
  if (index.fields.length === 0 || field === null) return { filter, options: { hint: ownerIndex(index) } }
  const marks = owners.map((owner) => markOf(kind, owner, { index, where }))
  return { filter: { ...filter, [field]: { $in: [...marks, null] } }, options: { hint: listsIndex(field) } }
}

/** Most tenants whose lists are merged. A page of a longer selection is read from the project's list. */
const maxMerged = 50

/** The index of a list, and the owners whose entries in it are merged: several tenants have a list each. */
const placeOf = (
  kind: RecordKind,
  scope: Scope,
  where: Where,
): { readonly index: ListIndex | null; readonly owners: readonly Owner[] } => {
  const { among, project, tenant } = scope
  const whole = { index: listIndexFor(kind, scope, where), owners: [scope] }
  if (among === undefined || tenant !== null || among.tenants.length > maxMerged) return whole
  const owners = among.tenants.map((each) => ({ project, tenant: each, user: null }))
  const index = listIndexFor(kind, narrowedScope(scope, { tenant: among.tenants[0] ?? '', user: null }), where)
  if (index === null || index.owner.length === 1) return whole
  // the marks of lists within tenants are only in rows of tenants
  return index.fields.length > 0 && among.untenanted ? whole : { index, owners }
}

type Owner = Pick<Scope, 'project' | 'tenant' | 'user'>

/**
 * Like `listQuery`, for counting and for skipping rows: answered by the index alone where that is exact, so that no row
 * is read. It leaves out the few rows of another release.
 */
export const coveredQuery = (kind: RecordKind, scope: Scope, where: Where): ListQuery => {
  const index = listIndexFor(kind, scope, where)
  const field = listsField(kind)
  const isExact =
    index?.fields.length === Object.keys(where ?? {}).length &&
    index.owner.length === columns(scope) &&
    scope.among === undefined
  if (index === null || field === null || index.fields.length === 0 || !isExact) return listQuery(kind, scope, where)
  return {
    filter: { [field]: markOf(kind, scope, { index, where }), project: scope.project },
    options: { hint: listsIndex(field) },
  }
}

const columns = ({ tenant, user }: Scope): number => 1 + (tenant === null ? 0 : 1) + (user === null ? 0 : 1)

const markOf = (
  kind: RecordKind,
  scope: Owner,
  { index, where }: { readonly index: ListIndex; readonly where: Where },
): string => listMark(index, scope, Object.fromEntries(conditions(kind, where)))

/** The condition that selects what a scope includes. */
export const inScope = ({ project, tenant, user, among }: Scope): Filter<RecordDocument> => ({
  project,
  ...(tenant === null ? {} : { tenant }),
  ...(user === null ? {} : { user }),
  ...(among !== undefined && { $and: [{ tenant: { $in: [...among.tenants, ...(among.untenanted ? [null] : [])] } }] }),
})

/** The condition that selects the record with a unique key. */
export const keyed = (kind: RecordKind, key: JsonObject, onlyGlobal: boolean): Filter<RecordDocument> =>
  Object.fromEntries(
    uniqueKeyFor(kind, key, onlyGlobal).fields.map((field) => [`keys.${field}`, fieldText(key, field)]),
  )

const filtered = (kind: RecordKind, where: Where): Filter<RecordDocument> =>
  Object.fromEntries(conditions(kind, where).map(([field, text]) => [`keys.${field}`, text]))
