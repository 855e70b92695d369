import type { Scope } from '#specs/scope.ts'
import type { Json, JsonObject } from '#storage/ports.ts'
import { cursorAfter, type Page, type PageQuery, pageOf } from './pages.ts'
import type { Row } from './schema.ts'
import type { Table } from './table.ts'

/** Which rows are meant: what one index finds, and the rest of the request. */
export interface Cover<T extends JsonObject> {
  readonly scope: Scope
  readonly where: Readonly<Record<string, Json>>
  readonly matches: (row: Row<T>) => boolean
}

/** A page looks at so many rows at most; where less of them are requested it is shorter, and goes on. */
const mostLooked = 500
const lookedAtOnce = 100

/** One page of rows of which an index finds too many, newest first. */
export const filteredPage = async <T extends JsonObject>(
  table: Table<T>,
  idPrefix: string,
  {
    cover: { scope, where, matches },
    page: query,
  }: { readonly cover: Cover<T>; readonly page: Omit<PageQuery, 'where'> },
): Promise<Page<Row<T>>> => {
  const data: Row<T>[] = []
  const spec = { idPrefix, view: (row: Row<T>) => row }
  let cursor = query.cursor ?? null
  for (let looked = 0; looked < mostLooked; looked += lookedAtOnce) {
    const limit = looked === 0 ? query.limit : lookedAtOnce
    const page: Page<Row<T>> = await pageOf(table, scope, { query: { ...query, limit, where, cursor }, shown: spec })
    for (const row of page.data) {
      if (!matches(row)) continue
      data.push(row)
      if (data.length < query.limit) continue
      const isLast = row === page.data.at(-1) && page.next_cursor === null
      return { data, next_cursor: isLast ? null : cursorAfter(row.id) }
    }
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return { data, next_cursor: cursor }
}
