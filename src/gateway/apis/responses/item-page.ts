import type { ResponseItem } from './input-items.ts'

/** The page of items that a request selects. */
export interface PageQuery {
  readonly limit?: number
  readonly order?: 'asc' | 'desc'
  /** Id of the item that precedes the page. */
  readonly after?: string
}

/** Returns a page of OpenAI's item lists: newest first by default, 20 items by default. */
export const itemPage = (items: readonly ResponseItem[], { limit = 20, order = 'desc', after }: PageQuery) => {
  const ordered = order === 'asc' ? items : items.toReversed()
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const data = ordered.slice(from, from + limit)
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  }
}
