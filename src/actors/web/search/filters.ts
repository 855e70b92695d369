import { invalidField } from '#specs/errors/invalid-field.ts'
import { freshSince } from '#src/pages/freshness.ts'

/**
 * Returns the earliest publication time of a search's results; undefined when it has no such filter.
 *
 * @throws {ServiceError} `invalid_field`
 */
export const sinceOf = (
  { freshness }: { readonly freshness?: string | undefined },
  now: number,
): number | undefined => {
  const since = freshness === undefined ? undefined : freshSince(freshness, now)
  if (since !== null) return since
  const message = 'freshness must be a time, or a duration such as 24h, 7d, 2w, 3m or 1y.'
  throw invalidField('freshness', message)
}
