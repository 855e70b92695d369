import { ServiceError } from '#specs/errors/errors.ts'
import type { Scope } from '#specs/scope.ts'
import type { Json, JsonObject } from '#storage/ports.ts'
import { isId } from '../runtime/ids.ts'
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

/**
 * Returns one page of a list, newest first. A cursor refers to the last row of the previous page, so rows that are
 * inserted or removed meanwhile neither shift nor repeat what follows.
 *
 * @param idPrefix prefix of the ids of this table.
 * @throws {ServiceError} `invalid_query` for a cursor that was not issued by this list.
 */
export const pageOf = async <T extends JsonObject, V>(
  table: Table<T>,
  scope: Scope,
  {
    query: { limit, cursor, where, ceiling, floor = '' },
    shown: { idPrefix, view },
  }: { readonly query: PageQuery; readonly shown: { readonly idPrefix: string; readonly view: (row: Row<T>) => V } },
): Promise<Page<V>> => {
  const after = cursor === undefined || cursor === null ? ceiling : idAfter(cursor, idPrefix)
  const found = await table.list(scope, {
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
    ...(where === undefined ? {} : { where }),
  })
  const rows = found.filter(({ id }) => id > floor)
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data: data.map(view), next_cursor: rows.length > limit && last !== undefined ? cursorAfter(last.id) : null }
}

/** Returns the cursor of the page after this row. */
export const cursorAfter = (id: string): string => Buffer.from(id).toString('base64url')

const idAfter = (cursor: string, idPrefix: string): string => {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (isId(id, idPrefix) && cursorAfter(id) === cursor) return id
  throw new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this list.' })
}
