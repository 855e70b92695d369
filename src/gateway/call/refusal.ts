import { type ErrorCode, errors, ServiceError } from '#specs/errors/errors.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import { AttemptFailed } from './failure.ts'
import { ModelError } from './provider-port.ts'

/** Converts the failure of a call to the error that the API returns. */
export const refusalOf = (failure: unknown): Error => {
  const error = failure instanceof AttemptFailed ? failure.error : failure
  if (error instanceof ModelError) return refusalBy(error)
  return error instanceof Error ? error : new ServiceError('internal_error', { cause: failure })
}

/** The value, or the refusal of the work as a value. */
export const orRefusal = async <T>(work: () => T | Promise<T>): Promise<T | ServiceError> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

/** The error code under which a failure is logged. */
export const codeOf = (failure: Error): ErrorCode => (failure instanceof ServiceError ? failure.code : 'internal_error')

/** The HTTP status of a failure before the first byte of the answer. */
export const statusOf = (failure: Error): number => statusIn('openai', codeOf(failure))

const refusalBy = (error: ModelError): ServiceError => {
  const { code, message, retryAfterMs, param } = error
  return new ServiceError(code, {
    message,
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterS: Math.ceil(retryAfterMs / 1000) }),
    ...(param !== undefined ? { param } : code === 'model_not_found' ? { param: 'model' } : {}),
  })
}

/** An error inside a stream, in the envelope of OpenAI's APIs. */
export const errorFrame = (failure: Error, requestId: string): object => {
  const error = failure instanceof ServiceError ? failure : new ServiceError('internal_error')
  const { code, message, details } = error
  return { error: { type: errors[code].type, code, message, request_id: requestId, param: details.param ?? null } }
}
