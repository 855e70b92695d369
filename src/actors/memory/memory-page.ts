import { ServiceError } from '#specs/errors/errors.ts'
import { cursorAfter } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { isId } from '../runtime/index.ts'
import { isSeenFrom, type PlaceFilter, placeOf } from './indexes/memory-place.ts'
import type { MemoryData } from './kinds.ts'
import { type MemoryOwner, ownerKey, ownersScope } from './memory-owner.ts'

/** Selection of a page of memories. */
export interface MemoryPageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly ascending?: boolean
  /** Only memories that are valid then, in ms since the epoch, and not superseded. */
  readonly heldAt?: number
  /** Absent: every memory of the user. With `anySession`, memories of all sessions are included. */
  readonly place?: PlaceFilter & { readonly anySession: boolean }
}

/** One page; `nextCursor` is null on the last one. */
export interface MemoryPage {
  readonly rows: readonly Row<MemoryData>[]
  readonly nextCursor: string | null
}

/** Maximum number of rows read for one page. A page that reaches it is shorter, and its cursor continues there. */
const maxScanned = 1_000
const pageLength = 200

/** Returns a page of one user's memories by id. @throws {ServiceError} `invalid_query` for a cursor of another list */
export const memoryPage = async (
  table: Table<MemoryData>,
  owner: MemoryOwner,
  query: MemoryPageQuery,
): Promise<MemoryPage> => {
  const rows: Row<MemoryData>[] = []
  let after = query.cursor === undefined ? undefined : idIn(query.cursor)
  for (let scanned = 0; scanned < maxScanned; scanned += pageLength) {
    const some = await table.list(ownersScope(owner), {
      where: { owner: ownerKey(owner) },
      ...{ limit: pageLength, ascending: query.ascending ?? false },
      ...(after !== undefined && { after }),
    })
    for (const row of some) {
      if (rows.length === query.limit) return { rows, nextCursor: cursorAfter(rows.at(-1)?.id ?? '') }
      if (matches(row.data, query)) rows.push(row)
    }
    after = some.at(-1)?.id ?? after
    if (some.length < pageLength) return { rows, nextCursor: null }
  }
  return { rows, nextCursor: after === undefined ? null : cursorAfter(after) }
}

const matches = (data: MemoryData, { heldAt, place }: MemoryPageQuery): boolean => {
  if (heldAt !== undefined && (data.superseded_by !== null || (data.valid_to_ms ?? heldAt + 1) <= heldAt)) return false
  if (place === undefined) return true
  const at = placeOf(data)
  if (!place.anySession || at.scope === 'user') return isSeenFrom(place, at)
  return place.scope !== 'user' && (place.namespace === null || place.namespace === at.namespace)
}

const idIn = (cursor: string): string => {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (isId(id, 'mem') && cursorAfter(id) === cursor) return id
  throw new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this list.' })
}
