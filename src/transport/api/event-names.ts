import { eventsOf } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'

const header = 'X-Event-Names'

/**
 * Checks `X-Event-Names` before anything is started.
 *
 * @throws {ServiceError} `invalid_header` for values other than short and long
 */
export const checkEventNames = ({ answer }: Operation, request: HttpRequest): void => {
  const value = request.header('x-event-names')
  if (value === undefined || value === 'short' || value === 'long' || (eventsOf(answer)?.foreign ?? true)) return
  throw new ServiceError('invalid_header', { param: header, message: `${header} must be short or long.` })
}
