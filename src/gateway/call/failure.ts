import { addressNotAllowed } from '#outgoing/ssrf-guard.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { errors } from '#specs/errors/errors.ts'
import { errorIn } from './error-body.ts'
import { ModelError } from './provider-port.ts'

/** A failed attempt: the error for the caller, and whether another attempt may succeed. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly error: ModelError
  readonly retryable: boolean
  constructor(error: ModelError, retryable: boolean) {
    super(error.message)
    this.error = error
    this.retryable = retryable
  }
}

/** A failure that another attempt would repeat. */
export const refused = (error: ModelError): AttemptFailed => new AttemptFailed(error, false)

/** The caller cancelled the call. */
export const cancelled = (): AttemptFailed => refused(new ModelError('cancelled', 'The model call was cancelled.'))

/** The answer began but did not end as its wire format requires. */
export const streamBroken = (): AttemptFailed =>
  refused(new ModelError('provider_stream_broken', 'The provider ended its stream early.'))

/** The memory for answers in progress is used up; this answer is not read to its end. */
export const memoryFull = (): AttemptFailed =>
  refused(new ModelError('overloaded', errors.overloaded.message, { retryAfterMs: 1000 }))

/** A timeout expired. Not retryable: the caller has already waited for a whole timeout. */
export const timedOut = (what: 'answer' | 'continue' | 'end'): AttemptFailed =>
  refused(
    new ModelError('provider_timeout', `The provider did not ${what === 'end' ? 'end its answer' : what} in time.`),
  )

/** The connection failed before any answer; retryable. */
export const unreachable = (): AttemptFailed =>
  new AttemptFailed(new ModelError('provider_unavailable', 'The provider cannot be reached.'), true)

/** This server does not connect to the server of the route. */
export const unavailable = (): AttemptFailed =>
  refused(new ModelError('provider_unavailable', 'The provider cannot be reached.'))

/** A customer configured an address that this server does not connect to. */
export const refusedAddress = (): AttemptFailed => refused(new ModelError('provider_unavailable', addressNotAllowed))

/** An answer with an error status. */
export interface ErrorAnswer {
  readonly status: number
  readonly body: string
  /** Value of the `Retry-After` header. */
  readonly retryAfter: string | null
}

/** Maps an answer with an error status to a failure. @param now in ms. */
export function statusFailure({ status, body, retryAfter }: ErrorAnswer, now: number): AttemptFailed {
  const error = errorIn(body)
  const reason = reasonOf(error)
  if (status === 429) return rateLimited(reason, retryAfterMs(retryAfter, now))
  if (status === 408 || status === 504) {
    return new AttemptFailed(new ModelError('provider_timeout', 'The provider reported a timeout.'), true)
  }
  if (status >= 500) return serverError(status, retryAfterMs(retryAfter, now))
  if (isTooLong(status, error)) {
    return refused(
      new ModelError('context_length_exceeded', 'The conversation exceeds the context window of the model.'),
    )
  }
  // another server like this one detected the loop: keep its code across any number of servers
  if (error.code === 'request_loop') return refused(new ModelError('request_loop', loopMessage))
  if (status === 404) return refused(new ModelError('model_not_found', 'The provider does not offer this model.'))
  if (status === 401 || status === 402 || status === 403 || isAboutTheAccount(status, error)) {
    return refused(new ModelError('provider_error', 'The provider refused the key that is configured for it.'))
  }
  if (status === 400 || status === 422) return requestRefused(error, reason)
  return refused(new ModelError('provider_error', `The provider refused the request (${status}${reason}).`))
}

/** Anthropic reports an account without credit, or over its own limit, as a bad request. */
const isAboutTheAccount = (status: number, error: WireObject): boolean =>
  status === 400 && /credit balance is too low|your specified API usage limits/i.test(textOf(error.message))

const loopMessage = errors.request_loop.message

/** The request is invalid for this model; sending it again would not help. */
function requestRefused(error: { readonly [field: string]: unknown }, reason: string): AttemptFailed {
  if (/content_?(policy|filter)|moderation|safety/i.test(reason)) {
    return refused(new ModelError('content_policy_violation', 'The provider refused the content of the request.'))
  }
  const shown = shownMessage(textOf(error.message))
  const message = `The provider refused the request${reason}${shown === '' ? '.' : `: ${shown}`}`
  const param = typeof error.param === 'string' && error.param !== '' ? error.param.slice(0, 256) : undefined
  return refused(new ModelError('bad_request', message, { param }))
}

const maxShownLength = 300
const secretLike = /\b(?:sk|pk|rk|gsk|xai|key|org|proj|user)[-_][\w-]{4,}|\bAIza[\w-]+|[\w-]{24,}/g

/**
 * The provider's message about the request helps its author; anything that resembles a key or an account id is removed.
 */
const shownMessage = (message: string): string =>
  message.slice(0, maxShownLength).replace(secretLike, '…').replace(/\s+/g, ' ').trim()

/** Maps an error object inside a stream to a failure. It comes after the first byte, so it is never retryable. */
export function streamedFailure(error: unknown): AttemptFailed {
  const fields = objectOf(error)
  const reason = reasonOf(fields)
  if (/rate_limit|resource_exhausted/i.test(reason)) {
    return refused(new ModelError('provider_rate_limited', 'The rate limit of the provider is exceeded.'))
  }
  if (/overloaded|unavailable/i.test(reason)) {
    return refused(new ModelError('provider_unavailable', 'The provider is overloaded.'))
  }
  if (isTooLong(400, fields)) {
    return refused(
      new ModelError('context_length_exceeded', 'The conversation exceeds the context window of the model.'),
    )
  }
  return refused(new ModelError('provider_error', `The provider returned an error${reason}.`))
}

/**
 * Returns the milliseconds of a `Retry-After` value (seconds or an HTTP date), at most 31 days; undefined when it is
 * unusable.
 */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.min(Math.round(seconds * 1000), longestWaitMs) : undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), longestWaitMs)
}

/** Limits are renewed after a month at most, so a longer `Retry-After` is capped. */
const longestWaitMs = 31 * 24 * 3_600_000

/** The key has no request left for the rest of a call, which another key may serve. */
export const keyAtLimit = (waitS: number): AttemptFailed =>
  refused(
    new ModelError('provider_rate_limited', 'The key has no requests left in this minute.', {
      retryAfterMs: waitS * 1000,
    }),
  )

/** A provider also answers 429 when the account has no credit; that is not retryable. */
function rateLimited(reason: string, waitMs: number | undefined): AttemptFailed {
  const error = new ModelError('provider_rate_limited', 'The rate limit of the provider is exceeded.', {
    retryAfterMs: waitMs,
  })
  return new AttemptFailed(error, !reason.includes('insufficient_quota'))
}

function serverError(status: number, waitMs: number | undefined): AttemptFailed {
  const overloaded = status === 503 || status === 529
  const error = overloaded
    ? new ModelError('provider_unavailable', 'The provider is overloaded.', { retryAfterMs: waitMs })
    : new ModelError('provider_error', `The provider returned an error (${status}).`, { retryAfterMs: waitMs })
  return new AttemptFailed(error, true)
}

function isTooLong(status: number, error: { readonly [field: string]: unknown }): boolean {
  if (status === 413 || error.code === 'context_length_exceeded') return true
  const message = textOf(error.message)
  return (
    status === 400 &&
    /context (length|window)|maximum context|prompt is too long|token count .*exceeds|too many tokens/i.test(message)
  )
}

/**
 * The provider's short error code, if it looks like one. Its message is not shown, since it may quote keys or input.
 */
function reasonOf(error: { readonly [field: string]: unknown }): string {
  const found = [error.code, error.type, error.status].find(
    (value) => typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_]{1,63}$/.test(value),
  )
  return typeof found === 'string' ? `, ${found}` : ''
}

/** The system or undici error code of a thrown value; empty when it has none. */
export const errorCodeOf = (error: unknown): string => (isObject(error) ? textOf(error.code) : '')
