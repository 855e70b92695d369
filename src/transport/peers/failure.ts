import { Overloaded } from '#runtime/overloaded.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { WireFailure } from './schema.ts'

/** How an error travels; undefined for one that is a bug and of no use to a peer. */
export const failureOf = (error: unknown): WireFailure | undefined => {
  if (error instanceof ServiceError) {
    const { param, message, retryAfterS, extra } = error.details
    return { code: error.code, param, message, retryAfterS, extra }
  }
  // a refusal and no doubt: it is not sent again at once
  if (error instanceof Overloaded) return failureOf(new ServiceError('overloaded'))
  return error instanceof StoreUnavailable ? { unavailable: error.message } : undefined
}

/** The error that travelled. */
export const errorOf = (failure: WireFailure): ServiceError | StoreUnavailable => {
  if ('unavailable' in failure) return new StoreUnavailable(failure.unavailable)
  const { code, param, message, retryAfterS, extra } = failure
  return new ServiceError(code, {
    ...(param !== undefined && { param }),
    ...(message !== undefined && { message }),
    ...(retryAfterS !== undefined && { retryAfterS }),
    ...(extra !== undefined && { extra }),
  })
}
