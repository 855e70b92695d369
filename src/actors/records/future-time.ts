import { invalidField } from '#specs/errors/invalid-field.ts'

/**
 * Converts an optional RFC 3339 time of a request to ms since the epoch; null for none.
 *
 * @throws {ServiceError} `invalid_field` for a time that has passed.
 */
export const futureOf = (param: string, text: string | null | undefined, now: number): number | null => {
  if (text === null || text === undefined) return null
  const atMs = Date.parse(text)
  if (atMs > now) return atMs
  throw invalidField(param, `${param} must be a time in the future.`)
}
