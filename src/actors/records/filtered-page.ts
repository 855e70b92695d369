import type { Json, JsonObject, Scope } from '#storage/index.ts'
import { cursorAfter, type IdPrefixes, type Page, type PageQuery, pageOf } from './pages.ts'
import type { Row } from './schema.ts'
import type { Table } from './table.ts'

/** Selection of rows: an index lookup (`where`) and a predicate for the rest of the request. */
export interface Cover<T extends JsonObject> {
  readonly scope: Scope
  readonly where: Readonly<Record<string, Json>>
  readonly matches: (row: Row<T>) => boolean
  /** Reads what the predicate needs of other records, for the rows of each page at once. */
  readonly prepare?: (rows: readonly Row<T>[]) => Promise<void>
}

/** Maximum number of rows read for a page. If too few match, the page is shorter and its cursor continues there. */
const maxScanned = 500
const pageLength = 100

/** Returns one page of rows, newest first, where the index alone finds too many and a predicate filters them. */
export const filteredPage = async <T extends JsonObject>(
  table: Table<T>,
  prefixes: IdPrefixes,
  {
    cover: { scope, where, matches, prepare },
    page: query,
  }: { readonly cover: Cover<T>; readonly page: Omit<PageQuery, 'where'> },
): Promise<Page<Row<T>>> => {
  const data: Row<T>[] = []
  const spec = { ...prefixes, view: (row: Row<T>) => row }
  let cursor = query.cursor ?? null
  for (let scanned = 0; scanned < maxScanned; scanned += pageLength) {
    const limit = scanned === 0 ? query.limit : pageLength
    const page: Page<Row<T>> = await pageOf(table, scope, { query: { ...query, limit, where, cursor }, shown: spec })
    await prepare?.(page.data)
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
