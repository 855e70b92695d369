import { Overloaded } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/index.ts'
import type { WireFailure } from './schema.ts'

/** Encodes an error for a peer; undefined for a bug, whose details are of no use to it. */
export const failureOf = (error: unknown): WireFailure | undefined => {
  if (error instanceof ServiceError) {
    const { param, message, retryAfterS, extra } = error.details
    return { code: error.code, param, message, retryAfterS, extra }
  }
  // sent as a definite refusal, so that the peer does not retry at once
  if (error instanceof Overloaded) return failureOf(new ServiceError('overloaded'))
  return error instanceof StoreUnavailable ? { unavailable: error.message } : undefined
}

/** Decodes an error that a peer has sent. */
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
