import { isErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { HostRefusal } from '../runtime/internal.ts'

/** Creates the error of the API with which a host or a machine refuses a request. */
export const serviceRefusal = ({ code, ...details }: HostRefusal): ServiceError =>
  new ServiceError(isErrorCode(code) ? code : 'internal_error', details)
