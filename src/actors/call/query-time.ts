import { ServiceError } from '#specs/errors/errors.ts'

/** Converts a time in a query to ms since the epoch. @throws {ServiceError} `invalid_query` */
export const timeOf = (param: string, text: string): number => {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw wrong(param, `${param} must be a time such as 2026-01-31T00:00:00Z.`)
  return at
}

/** Creates the error for an invalid value in a query. */
export const wrong = (param: string, message: string) => new ServiceError('invalid_query', { param, message })
