import { ServiceError } from '#specs/errors/errors.ts'
import { AttemptFailed } from '../call/failure.ts'
import { ModelError } from '../call/provider-port.ts'
import type { Route } from '../call/routes.ts'

/**
 * A provider's failure as the voice operations answer it (`speech.speak`, `transcriptions.transcribe`): 400 `provider_error` when it
 * refused the request, so that the caller can change it, with its own key too; 502 for everything else.
 *
 * @param error `internal_error` is made of what is no provider's failure: throw that itself where it can still be shown.
 * @param status that the provider answered; null when it answered none, or broke off.
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

/** Whether the caller's request, or key, is what the provider did not like. */
const isOurs = (status: number | null, { source }: Route): boolean => {
  if (status === null || status < 400 || status >= 500 || status === 408 || status === 429) return false
  return (status !== 401 && status !== 403 && status !== 402) || source === 'byok' || source === 'custom'
}

/** What to throw: the failure in the caller's words, or what went wrong on our side, for the log. */
export const shown = (failure: ServiceError, caught: unknown): unknown =>
  failure.code === 'internal_error' ? caught : failure

/** Whether the next route may do better: not when the request itself was refused, or the caller is gone. */
export const mayGoElsewhere = (error: ServiceError): boolean => error.code === 'provider_error'
