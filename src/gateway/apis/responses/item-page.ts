import type { ResponseItem } from './input-items.ts'

/** A page of items that is requested. */
export interface PageQuery {
  readonly limit?: number
  readonly order?: 'asc' | 'desc'
  /** Id of the item before the first. */
  readonly after?: string
}

/** OpenAI's list of items: newest first unless requested otherwise, 20 a page. */
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
