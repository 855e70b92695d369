import type { WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'

/** Returns an event of the server as text. */
export const serverEvent = (type: string, fields: WireObject): string =>
  JSON.stringify({ type, event_id: newId('event'), ...fields })

/** Returns the event `error`. @param about id that the client gave its event; null for none. */
export const errorEvent = (failure: unknown, about: string | null = null): string => {
  const error = failure instanceof ServiceError ? failure : new ServiceError('internal_error')
  const { code, message, details } = error
  const shown = { type: errors[code].type, code, message, param: details.param ?? null, event_id: about }
  return serverEvent('error', { error: shown })
}

/** The id that a client gave its event; null for none. */
export const eventIdOf = ({ event_id: id }: WireObject): string | null =>
  typeof id === 'string' ? id.slice(0, 512) : null

/** Errors after which a session cannot go on: what pays for it has ended. */
const endings: ReadonlySet<string> = new Set(['budget_exceeded', 'credit_balance_exhausted'])

/** Whether a session ends with an error. */
export const endsSession = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && endings.has(error.code)
