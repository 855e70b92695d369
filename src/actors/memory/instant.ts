import { ServiceError } from '#specs/errors/errors.ts'

/** Earliest and latest accepted instants: a timestamp has a year of four digits. */
const [min, max] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/** Parses an optional time or date of a request to ms since the epoch. @throws {ServiceError} `invalid_field` */
export const instantOf = (param: string, text: string | null | undefined): number | undefined => {
  if (text === undefined || text === null) return undefined
  const at = instantIn(text)
  if (at !== undefined) return at
  throw new ServiceError('invalid_field', { param, message: `${param} must be a time such as 2026-01-31T00:00:00Z.` })
}

/** Parses a time or date to ms since the epoch; undefined for other text, and for a year of more than four digits. */
export const instantIn = (text: string): number | undefined => {
  const at = Date.parse(text)
  return at >= min && at <= max ? at : undefined
}
