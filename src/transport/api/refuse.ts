import type { Logger } from 'pino'
import { Overloaded } from '#runtime/index.ts'
import type { EnvelopeName, Operation } from '#specs/dsl/declare.ts'
import { type ErrorCode, errors, ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { Containment } from '../http/containment.ts'
import { BodyTooLarge, BodyTooSlow, ConnectionClosed, type Headers } from '../http/http-port.ts'
import { envelop } from './envelopes.ts'
import type { Exchange } from './exchange.ts'

/**
 * Answers an error in the operation's envelope; if an answer has begun, ends it. Never throws: if this fails (a header
 * that cannot be sent, an error that cannot be serialised), the answer is an internal error without the exchange's
 * headers.
 *
 * @returns the status; 0 when the caller has disconnected.
 */
export const refuse = (exchange: Exchange, error: unknown, log: Logger): number => {
  if (error instanceof ConnectionClosed) return 0
  try {
    return answerError(exchange, error, log)
  } catch (second) {
    return answerPlainly(exchange, second, log)
  }
}

const answerPlainly = ({ response, envelope, requestId }: Exchange, error: unknown, log: Logger): number => {
  new Containment(log).failed('refusal', error, () => {
    if (response.begun) return response.fail()
    const { status, body } = envelop(envelope, new ServiceError('internal_error'), requestId)
    response.send(status, [jsonType, ['x-request-id', requestId]], JSON.stringify(body))
  })
  return errors.internal_error.status
}

const answerError = (exchange: Exchange, error: unknown, log: Logger): number => {
  const seen = serviceErrorOf(error, exchange, log)
  const shown = hasParam.has(exchange.envelope) ? inItsPlace(seen, exchange.endpoint?.operation) : seen
  const { status, body } = envelop(exchange.envelope, shown, exchange.requestId)
  const head = [jsonType, ...exchange.headers, ...nameOf(exchange), ...headersOf(shown)]
  if (exchange.response.begun) exchange.response.fail()
  else exchange.response.send(status, head, JSON.stringify(body))
  return status
}

const hasParam: ReadonlySet<EnvelopeName> = new Set(['platform', 'openai', 'memory', 'web'])

/** Names the last path parameter as `param` of a `not_found` error that has no `param`, or only `id`. */
export const inItsPlace = (error: ServiceError, operation: Pick<Operation, 'params'> | undefined): ServiceError => {
  const { code, details, message } = error
  const unnamed = details.param === undefined || details.param === 'id'
  const param = operation?.params.at(-1)
  if (code !== 'not_found' || !unnamed || param === undefined) return error
  return new ServiceError(code, { ...details, message, param, cause: error.cause })
}

/** Maps an error to the one that callers see. An unexpected error is logged and shown without its message. */
export const serviceErrorOf = (
  error: unknown,
  { requestId, endpoint }: Pick<Exchange, 'requestId' | 'endpoint'>,
  log: Logger,
): ServiceError => {
  if (error instanceof ServiceError) return error
  if (error instanceof BodyTooLarge) return tooLarge(error, endpoint)
  if (error instanceof BodyTooSlow) return new ServiceError('body_too_slow', { message: error.message, cause: error })
  if (error instanceof Overloaded) return new ServiceError('overloaded', { cause: error })
  if (error instanceof StoreUnavailable) return new ServiceError('store_unavailable', { cause: error })
  log.error({ err: error, requestId, operation: endpoint?.operation.id }, 'request failed unexpectedly')
  return new ServiceError('internal_error', { cause: error })
}

const tooLarge = (cause: BodyTooLarge, endpoint: Exchange['endpoint']): ServiceError => {
  if (endpoint === null) return new ServiceError('body_too_large', { cause })
  const max = Math.round(endpoint.operation.maxBodyBytes / 1024)
  const message = `The body is larger than the ${max % 1024 === 0 ? `${max / 1024} MB` : `${max} KB`} that this operation accepts.`
  return new ServiceError('body_too_large', { message, cause })
}

/** Anthropic's SDKs read the request id from another header. */
const nameOf = ({ envelope, requestId }: Exchange): Headers =>
  envelope === 'anthropic' ? [['request-id', requestId]] : []

const jsonType = ['content-type', 'application/json; charset=utf-8'] as const

/**
 * Codes whose answer has `Retry-After`, of one second unless the error gives another time. `rate_limited` always gives
 * one.
 */
const soon: ReadonlySet<ErrorCode> = new Set([
  ...(['store_unavailable', 'overloaded', 'shutting_down', 'interrupted'] as const),
  ...(['rate_limit_exceeded', 'provider_rate_limited', 'too_many_streams'] as const),
])

/** Conflicts that may have passed when the request is repeated. */
const passing: ReadonlySet<ErrorCode> = new Set(['version_conflict', 'idempotency_in_progress', 'turn_in_progress'])

/** Errors with the status of passing ones, which a repeated request gets again, or pays for again. */
const lasting: ReadonlySet<ErrorCode> = new Set([
  ...(['answer_too_large', 'provider_not_active', 'browser_unavailable', 'actor_parked'] as const),
  ...(['memory_quota_exceeded', 'memory_ops_quota_exceeded'] as const),
])

/** The SDKs of OpenAI and Anthropic repeat requests by their status, 409 included, unless this header forbids it. */
const notAgain = ['x-should-retry', 'false'] as const

/** A conflict that says when to repeat the request passes, whatever its code. */
const isFutile = ({ code, details }: ServiceError): boolean =>
  lasting.has(code) || (errors[code].status === 409 && !passing.has(code) && details.retryAfterS === undefined)

export const headersOf = (error: ServiceError): Headers => {
  const { code, details } = error
  if (code === 'authentication_required') return [['www-authenticate', 'Bearer']]
  const retryAfterS = details.retryAfterS ?? (soon.has(code) ? 1 : undefined)
  const own = [...(details.headers ?? []), ...(isFutile(error) ? [notAgain] : [])]
  return retryAfterS === undefined ? own : [...own, ['retry-after', String(Math.ceil(retryAfterS))]]
}
