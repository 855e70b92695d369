import { ServiceError } from '#specs/errors/errors.ts'

/** The latest accepted instant, and negated the earliest: a timestamp has a year of four digits. */
const most = Date.UTC(9999, 11, 31)

/** Parses an optional time or date of a request to ms since the epoch. @throws {ServiceError} `invalid_field` */
export const instantOf = (param: string, text: string | null | undefined): number | undefined => {
  if (text === undefined || text === null) return undefined
  const at = Date.parse(text)
  if (Number.isFinite(at) && Math.abs(at) <= most) return at
  throw new ServiceError('invalid_field', { param, message: `${param} must be a time such as 2026-01-31T00:00:00Z.` })
}
