import { ServiceError } from '../../../../specs/errors.ts'
import type { Route } from '../calls/routes.ts'
import { AttemptFailed } from '../failure.ts'
import { ModelError } from '../provider-port.ts'

/**
 * A provider's failure in the words of the voice table (interface "Errors", "Voice"): 400 `provider_error` when it
 * refused what it was asked, so that the caller can ask otherwise, with its own key too; 502 for everything else.
 *
 * @param status that the provider answered; null when it answered none, or broke off.
 */
export const voiceFailure = (error: unknown, route: Route, status: number | null): ServiceError => {
  const failure = error instanceof AttemptFailed ? error.error : error
  if (!(failure instanceof ModelError)) throw error
  if (failure.code === 'cancelled') return new ServiceError('cancelled')
  const { retryAfterMs, param } = failure
  const message = status === 404 ? 'The provider does not know this model or voice.' : failure.message
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

/** Whether the next route may do better: not when the request itself was refused, or the caller is gone. */
export const mayGoElsewhere = (error: ServiceError): boolean => error.code === 'provider_error'
