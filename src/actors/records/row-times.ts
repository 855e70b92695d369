/** RFC 3339 in UTC with milliseconds, from ms since the epoch. */
export const timestampOf = (atMs: number): string => new Date(atMs).toISOString()

/** `timestampOf`, but null for null. */
export const timestampOrNull = (atMs: number | null): string | null => (atMs === null ? null : timestampOf(atMs))

/** `created_at` and `updated_at` of a row as responses show them. */
export const rowTimes = (row: { readonly created_at: number; readonly updated_at: number }) => ({
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at),
})
