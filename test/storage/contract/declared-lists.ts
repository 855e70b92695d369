import { kinds } from '#actors/capabilities.ts'
import { listIndexes } from '#storage/list-index.ts'
import type { RecordKind, StoredRecord } from '#storage/ports.ts'
import { projectScope, type Scope, tenantScope, userScope } from '#storage/scope.ts'

/** Kinds whose lists have filters; the others are listed by their owner alone, as these are too. */
export const filteredKinds = kinds.filter(({ filters = [] }) => filters.length > 0)

/** Rows of a page of a test. */
export const pageLength = 5

/** Number of the oldest rows that have the value that tests filter by. */
const rare = 12

/**
 * Rows of a kind. Only the oldest have the values that lists filter by: a read that scans passes hundreds of others
 * first. One in fifty has expired and is not removed yet.
 */
export const rowsOf = (kind: RecordKind, count = 300): readonly StoredRecord[] => {
  const fields = [...new Set(listIndexes(kind).flatMap((each) => each.fields))]
  const unique = (kind.unique ?? []).flatMap((each) => each.fields)
  return Array.from({ length: count }, (_, i) => {
    const value = i < rare ? 'rare' : 'common'
    const [tenant, user] = i < rare || i % 3 === 0 ? ['ten_1', 'u'] : i % 3 === 1 ? ['ten_2', 'v'] : [null, null]
    const data = Object.fromEntries([...fields.map((field) => [field, value]), ...unique.map((field) => [field, i])])
    const expires_at = i >= rare && i % 50 === 0 ? 1 : null
    const times = { created_at: i, updated_at: i, expires_at }
    return { id: `row_${String(i).padStart(5, '0')}`, project: 'prj_1', tenant, user, version: 1, ...times, data }
  })
}

/** A list of a kind in one scope. */
export interface DeclaredList {
  readonly scope: Scope
  readonly where: Readonly<Record<string, string>>
}

const scopes = {
  project: projectScope('prj_1'),
  tenant: tenantScope('prj_1', 'ten_1'),
  user: userScope('prj_1', 'ten_1', 'u'),
} as const

/** Every list that a kind declares, and those of its owners. Fields of unique keys have other values. */
export const listsOf = (kind: RecordKind): readonly DeclaredList[] =>
  listIndexes(kind)
    .filter(({ fields }) => !fields.some((field) => (kind.unique ?? []).some((each) => each.fields.includes(field))))
    .map(({ owner, fields }) => ({
      scope: scopes[owner.at(-1) ?? 'project'],
      where: Object.fromEntries(fields.map((field) => [field, 'rare'])),
    }))
