import type { Json, JsonObject, Scope } from '#storage/index.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'

/** The query of an OpenAI list. */
export interface OpenAiQuery {
  readonly limit: number
  readonly order?: 'asc' | 'desc'
  /** Id of the row that precedes the page. */
  readonly after?: string
  readonly where?: { readonly [field: string]: Json }
}

/** The list envelope of OpenAI's API. */
export const openAiPage = <T extends { readonly id: string }>(data: readonly T[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
})

/** Returns the rows of one page of an OpenAI list, and whether there are more. @throws {StoreUnavailable} */
export const openAiRows = async <T extends JsonObject>(
  table: Table<T>,
  scope: Scope,
  { limit, order = 'desc', after, where }: OpenAiQuery,
): Promise<{ readonly rows: readonly Row<T>[]; readonly more: boolean }> => {
  const rows = await table.list(scope, {
    limit: limit + 1,
    ascending: order === 'asc',
    ...(after !== undefined && { after }),
    ...(where !== undefined && { where }),
  })
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

/** A time of OpenAI's API: seconds since the epoch. */
export const secondsOf = (atMs: number): number => Math.floor(atMs / 1000)
