import { callTimeout, timeoutHeader } from '#specs/call-timeout.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'

/**
 * How long the provider may be silent in this request, in ms; undefined without the header.
 *
 * @throws {ServiceError} `invalid_header`
 */
export const timeoutOf = (request: Pick<HttpRequest, 'header'>): number | undefined => {
  const given = request.header(timeoutHeader.toLowerCase())
  if (given === undefined || given === '') return undefined
  const ms = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (ms >= callTimeout.minMs && ms <= callTimeout.maxMs) return ms
  const message = `${timeoutHeader} must be milliseconds from ${callTimeout.minMs} to ${callTimeout.maxMs}.`
  throw new ServiceError('invalid_header', { param: timeoutHeader, message })
}
