import { ServiceError } from '#specs/errors/errors.ts'

/** Returns what was looked up. @throws {ServiceError} `not_found`, also of this parameter, when there is nothing */
export const orNotFound = <T>(found: T | null | undefined, param?: string, message?: string): T => {
  if (found !== null && found !== undefined) return found
  throw new ServiceError('not_found', {
    ...(param !== undefined && { param }),
    ...(message !== undefined && { message }),
  })
}

/** Whether a lookup failed because there is nothing that the caller may see. */
export const isNotFound = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'not_found'

/** For `catch`: a lookup that finds nothing resolves to null; other errors are thrown again. */
export const nullWhenNotFound = (error: unknown): null => {
  if (isNotFound(error)) return null
  throw error
}
