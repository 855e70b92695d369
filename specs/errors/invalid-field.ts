import { ServiceError } from './errors.ts'

/** Creates the error of a field. @param message a whole sentence, which the caller reads. */
export const invalidField = (param: string, message: string): ServiceError =>
  new ServiceError('invalid_field', { param, message })

/** @param param path of the field, such as `messages[2].content[0].type`. */
export const invalid = (param: string, why: string): ServiceError => invalidField(param, `${param} ${why}.`)

/** @param param path of the missing field. */
export const missing = (param: string): ServiceError => new ServiceError('missing_field', { param })

/** Returns a required field that must be a non-empty text. @throws {ServiceError} `missing_field`, `invalid_field` */
export const needText = (value: unknown, param: string): string => {
  if (value === undefined || value === null) throw missing(param)
  if (typeof value !== 'string') throw invalid(param, 'must be string')
  if (value === '') throw invalid(param, 'must not be empty')
  return value
}
