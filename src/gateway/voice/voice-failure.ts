import { ServiceError } from '#specs/errors/errors.ts'
import { AttemptFailed } from '../call/failure.ts'
import { ModelError } from '../call/provider-port.ts'
import type { Route } from '../call/routes.ts'

/**
 * Maps a provider's failure to the error of the voice operations (`speech.speak`, `transcriptions.transcribe`): 400
 * `provider_refused` when the provider rejected the request, or the project's own key, so that the caller can correct
 * it; 502 `provider_error` for everything else.
 *
 * @param error an error that is not a provider's failure becomes `internal_error`; throw the original where it can
 * still be reported.
 * @param status status of the provider's response; null when there was none, or when it broke off.
 */
export const voiceFailure = (error: unknown, route: Route, status: number | null): ServiceError => {
  const failure = error instanceof AttemptFailed ? error.error : error
  if (!(failure instanceof ModelError)) return new ServiceError('internal_error')
  if (failure.code === 'cancelled' || failure.code === 'request_loop') return new ServiceError(failure.code)
  const { retryAfterMs, param } = failure
  const message = status === 404 ? 'The provider does not offer this model or voice.' : failure.message
  return new ServiceError(isOurs(status, route) ? 'provider_refused' : 'provider_error', {
    message,
    ...(retryAfterMs !== undefined && { retryAfterS: retryAfterMs / 1000 }),
    ...(param !== undefined && { param }),
  })
}

/** Whether the provider rejected the caller's request, or the caller's own key. */
const isOurs = (status: number | null, { source }: Route): boolean => {
  if (status === null || status < 400 || status >= 500 || status === 408 || status === 429) return false
  return (status !== 401 && status !== 403 && status !== 402) || source === 'byok' || source === 'custom'
}

/** Returns what to throw: the failure as shown to the caller, or the original error for the log when it is internal. */
export const shown = (failure: ServiceError, caught: unknown): unknown =>
  failure.code === 'internal_error' ? caught : failure

/** Whether another route may succeed: not when the request itself was rejected, or the caller has disconnected. */
export const isRetryableElsewhere = (error: ServiceError): boolean => error.code === 'provider_error'
