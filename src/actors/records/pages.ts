import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject, Scope } from '#storage/index.ts'
import { isId } from '../runtime/index.ts'
import type { Row } from './schema.ts'
import type { Table } from './table.ts'

/** The list envelope of the agent platform. `next_cursor` is null on the last page. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

/** The query of a list. */
export interface PageQuery {
  /** 1–100. */
  readonly limit: number
  readonly cursor?: string | null | undefined
  /** Equality on declared filters. */
  readonly where?: { readonly [field: string]: Json }
  /** Restrict the list to a period: only ids below `ceiling` and above `floor` (`idFloor`). */
  readonly ceiling?: string
  readonly floor?: string
}

/** The prefixes of the ids of a table. */
export interface IdPrefixes {
  readonly idPrefix: string
  /** Prefix of the ids that earlier releases generated. All of these rows are older than the others. */
  readonly olderIdPrefix?: string | undefined
}

/**
 * Returns one page of a list, newest first. A cursor refers to the last row of the previous page, so rows that are
 * inserted or removed meanwhile neither shift nor repeat what follows.
 *
 * @throws {ServiceError} `invalid_query` for a cursor that was not issued by this list.
 */
export const pageOf = async <T extends JsonObject, V>(
  table: Table<T>,
  scope: Scope,
  {
    query: { limit, cursor, where, ceiling, floor = '' },
    shown: { view, ...prefixes },
  }: { readonly query: PageQuery; readonly shown: IdPrefixes & { readonly view: (row: Row<T>) => V } },
): Promise<Page<V>> => {
  const after = cursor === undefined || cursor === null ? undefined : idAfter(cursor, prefixes)
  const filter = where === undefined ? {} : { where }
  const rows = await rowsAfter(table, scope, { limit: limit + 1, filter, after, ceiling, floor, ...prefixes })
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data: data.map(view), next_cursor: rows.length > limit && last !== undefined ? cursorAfter(last.id) : null }
}

/**
 * Returns one page of a list that is not stored, in its own order.
 *
 * @throws {ServiceError} `invalid_query` for a cursor that was not issued by this list.
 */
export const pageOfAll = <T extends { readonly id: string }>(
  all: readonly T[],
  { limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>,
): Page<T> => {
  const after = cursor === undefined || cursor === null ? -1 : all.findIndex(({ id }) => cursorAfter(id) === cursor)
  if (after === -1 && typeof cursor === 'string') throw foreignCursor()
  const data = all.slice(after + 1, after + 1 + limit)
  const last = data.at(-1)
  return { data, next_cursor: last === undefined || last === all.at(-1) ? null : cursorAfter(last.id) }
}

/** Returns the cursor of the page after this row. */
export const cursorAfter = (id: string): string => Buffer.from(id).toString('base64url')

interface Range extends IdPrefixes {
  readonly limit: number
  readonly filter: Pick<PageQuery, 'where'>
  /** Id of the last row of the previous page. */
  readonly after: string | undefined
  readonly ceiling: string | undefined
  readonly floor: string
}

/** Reads the rows that follow: first those with ids of today, then those with ids of earlier releases. */
const rowsAfter = async <T extends JsonObject>(
  table: Table<T>,
  scope: Scope,
  { limit, filter, after, ceiling, floor, idPrefix, olderIdPrefix }: Range,
): Promise<readonly Row<T>[]> => {
  if (olderIdPrefix === undefined) {
    const below = after ?? ceiling
    const found = await table.list(scope, { limit, ...filter, ...(below !== undefined && { after: below }) })
    return found.filter(({ id }) => id > floor)
  }
  const rows: Row<T>[] = []
  const isOlder = after?.startsWith(`${olderIdPrefix}_`) === true
  for (const prefix of isOlder ? [olderIdPrefix] : [idPrefix, olderIdPrefix]) {
    if (rows.length >= limit) break
    const under = (bound: string): string => `${prefix}_${bound.slice(bound.indexOf('_') + 1)}`
    // `~` sorts above every id
    const top = ceiling === undefined ? `${prefix}_~` : under(ceiling)
    const below = after?.startsWith(`${prefix}_`) === true ? after : top
    const found = await table.list(scope, { limit: limit - rows.length, ...filter, after: below })
    rows.push(...found.filter(({ id }) => id.startsWith(`${prefix}_`) && (floor === '' || id > under(floor))))
  }
  return rows
}

const idAfter = (cursor: string, { idPrefix, olderIdPrefix }: IdPrefixes): string => {
  const id = Buffer.from(cursor, 'base64url').toString()
  const isOurs = isId(id, idPrefix) || (olderIdPrefix !== undefined && isId(id, olderIdPrefix))
  if (isOurs && cursorAfter(id) === cursor) return id
  throw foreignCursor()
}

const foreignCursor = (): ServiceError =>
  new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this list.' })
