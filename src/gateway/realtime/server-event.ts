import type { WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { type ErrorCode, type ErrorDetails, errors, ServiceError } from '#specs/errors/errors.ts'

/** Returns an event of the server as text. */
export const serverEvent = (type: string, fields: WireObject): string =>
  JSON.stringify({ type, event_id: newId('event'), ...fields })

/**
 * Creates the refusal of an event. @param reason the code that OpenAI's server has for it, by which its clients decide
 * whether to ignore the refusal.
 */
export const refusedEvent = (code: ErrorCode, reason: string, details: ErrorDetails): ServiceError =>
  new ServiceError(code, { ...details, extra: { reason } })

/** Returns the event `error`. @param about id that the client gave its event; null for none. */
export const errorEvent = (failure: unknown, about: string | null = null): string => {
  const error = failure instanceof ServiceError ? failure : new ServiceError('internal_error')
  const { code, message, details } = error
  const shown = { type: errors[code].type, code: details.extra?.reason ?? code, message, param: details.param ?? null }
  return serverEvent('error', { error: { ...shown, event_id: about } })
}

/** The id that a client gave its event; null for none. */
export const eventIdOf = ({ event_id: id }: WireObject): string | null =>
  typeof id === 'string' ? id.slice(0, 512) : null

/** Errors after which a session cannot go on: what pays for it has ended. */
const endings: ReadonlySet<string> = new Set(['budget_exceeded', 'credit_balance_exhausted'])

/** Whether a session ends with an error. */
export const endsSession = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && endings.has(error.code)
