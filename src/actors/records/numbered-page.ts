import type { NumberedPage } from '#specs/dsl/lists.ts'
import type { Total } from '#storage/index.ts'

/** Builds the `{ data, pagination }` envelope of sessions and their events (`sessions.events`). */
export const numberedPage = <T>(
  data: readonly T[],
  { page, limit, total }: { readonly page: number; readonly limit: number; readonly total: Total },
): NumberedPage<T> => ({
  data,
  pagination: {
    page,
    limit,
    total: total.count,
    total_is: total.is,
    total_pages: Math.ceil(total.count / limit),
    has_more: page * limit < total.count,
  },
})
