import { ServiceError } from '#specs/errors/errors.ts'

/** Returns what was looked up. @throws {ServiceError} `not_found`, also of this parameter, when there is nothing */
export const orNotFound = <T>(found: T | null | undefined, param?: string, message?: string): T => {
  if (found !== null && found !== undefined) return found
  throw new ServiceError('not_found', {
    ...(param !== undefined && { param }),
    ...(message !== undefined && { message }),
  })
}

/** The refusal of a tenant that the project does not have, which callers often name by their own id of it. */
export const noTenant = (param: string): ServiceError =>
  new ServiceError('not_found', {
    param,
    message:
      'There is no such tenant. A tenant is named by its id (ten_…); GET /v1/tenants?external_id=… finds it by your own.',
  })

/** Whether a lookup failed because there is nothing that the caller may see. */
export const isNotFound = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'not_found'

/** For `catch`: a lookup that finds nothing resolves to null; other errors are thrown again. */
export const nullWhenNotFound = (error: unknown): null => {
  if (isNotFound(error)) return null
  throw error
}
