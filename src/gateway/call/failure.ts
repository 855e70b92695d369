import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { errors } from '#specs/errors/errors.ts'
import { errorIn } from './error-body.ts'
import { ModelError } from './provider-port.ts'

/** How one attempt failed: the error that the caller gets, and whether another attempt may help. */
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

/** A refusal that another attempt would meet again. */
export const refused = (error: ModelError): AttemptFailed => new AttemptFailed(error, false)

/** The caller gave up. */
export const cancelled = (): AttemptFailed => refused(new ModelError('cancelled', 'The model call was cancelled.'))

/** The answer began and did not end as the wire format says. */
export const streamBroken = (): AttemptFailed =>
  refused(new ModelError('provider_stream_broken', 'The provider ended its stream early.'))

/** Answers take all the memory that they may; this one is not read to its end. */
export const noRoom = (): AttemptFailed =>
  refused(new ModelError('overloaded', errors.overloaded.message, { retryAfterMs: 1000 }))

/** Nothing came in time. Not tried again: the caller has waited a whole limit already. */
export const timedOut = (what: 'answer' | 'continue' | 'end'): AttemptFailed =>
  refused(
    new ModelError('provider_timeout', `The provider did not ${what === 'end' ? 'end its answer' : what} in time.`),
  )

/** The connection failed before any answer. */
export const unreachable = (): AttemptFailed =>
  new AttemptFailed(new ModelError('provider_unavailable', 'The provider cannot be reached.'), true)

/** The server of a route is one that is not connected to. */
export const unavailable = (): AttemptFailed =>
  refused(new ModelError('provider_unavailable', 'The provider cannot be reached.'))

/** An address that a customer named, and that the server does not connect to. */
export const refusedAddress = (): AttemptFailed =>
  refused(new ModelError('provider_unavailable', 'Connections to the address of the provider are not allowed.'))

/** An answer with an error status. */
export interface ErrorAnswer {
  readonly status: number
  readonly body: string
  /** The value of that header. */
  readonly retryAfter: string | null
}

/** What an answer with an error status means. @param now in ms. */
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
  // a server like this one found it: the code is kept, however many servers are between
  if (error.code === 'request_loop') return refused(new ModelError('request_loop', loopMessage))
  if (status === 404) return refused(new ModelError('model_not_found', 'The provider does not offer this model.'))
  if (status === 401 || status === 402 || status === 403 || isAboutTheAccount(status, error)) {
    return refused(new ModelError('provider_error', 'The provider refused the key that is configured for it.'))
  }
  if (status === 400 || status === 422) return requestRefused(error, reason)
  return refused(new ModelError('provider_error', `The provider refused the request (${status}${reason}).`))
}

/** Anthropic says of an account without credit, or over its own limit, that the request is bad. */
const isAboutTheAccount = (status: number, error: WireObject): boolean =>
  status === 400 && /credit balance is too low|your specified API usage limits/i.test(textOf(error.message))

const loopMessage = errors.request_loop.message

/** The request is wrong for this model, and sending it again would not make it right. */
function requestRefused(error: { readonly [field: string]: unknown }, reason: string): AttemptFailed {
  if (/content_?(policy|filter)|moderation|safety/i.test(reason)) {
    return refused(new ModelError('content_policy_violation', 'The provider refused the content of the request.'))
  }
  const said = shownMessage(textOf(error.message))
  const message = `The provider refused the request${reason}${said === '' ? '.' : `: ${said}`}`
  const param = typeof error.param === 'string' && error.param !== '' ? error.param.slice(0, 256) : undefined
  return refused(new ModelError('bad_request', message, { param }))
}

const maxShownLength = 300
const secretLike = /\b(?:sk|pk|rk|gsk|xai|key|org|proj|user)[-_][\w-]{4,}|\bAIza[\w-]+|[\w-]{24,}/g

/** What a provider says about the request itself helps its author; what looks like a key or an account does not get out. */
const shownMessage = (message: string): string =>
  message.slice(0, maxShownLength).replace(secretLike, '…').replace(/\s+/g, ' ').trim()

/** An error object that came inside a stream: always after the first byte, so never tried again. */
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

/** Milliseconds of a `Retry-After` value (seconds or an HTTP date); undefined when it says nothing usable. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.min(Math.round(seconds * 1000), longestWaitMs) : undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), longestWaitMs)
}

/** Limits come back with the month at the latest; what says more is no time to wait for. */
const longestWaitMs = 31 * 24 * 3_600_000

/** A provider without credit answers 429 too; waiting does not help there. */
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

/** The provider's own short code, when it looks like one. Its message is not shown: it may quote keys or input. */
function reasonOf(error: { readonly [field: string]: unknown }): string {
  const found = [error.code, error.type, error.status].find(
    (value) => typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_]{1,63}$/.test(value),
  )
  return typeof found === 'string' ? `, ${found}` : ''
}

/** Whether a thrown value carries a system or undici error code. */
export const errorCodeOf = (error: unknown): string => (isObject(error) ? textOf(error.code) : '')
