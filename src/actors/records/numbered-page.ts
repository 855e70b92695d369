import type { NumberedPage } from '#specs/dsl/lists.ts'

/** Builds the `{ data, pagination }` envelope of sessions and their events (`sessions.events`). */
export const numberedPage = <T>(
  data: readonly T[],
  { page, limit, total }: { readonly page: number; readonly limit: number; readonly total: number },
): NumberedPage<T> => ({
  data,
  pagination: { page, limit, total, total_pages: Math.ceil(total / limit), has_more: page * limit < total },
})
