import { eventsOf } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'
import { asStreamQuery } from './schema.ts'

/**
 * The sequence after which a stream continues; null when the request names none. The header takes precedence over
 * `?after=`: a browser that reconnects sends the newer value there, with the old URL.
 */
export const lastEventId = ({ answer }: Operation, request: HttpRequest, query: unknown): number | null => {
  if (!eventsOf(answer)?.resumable) return null
  const header = request.header('last-event-id')
  if (header === undefined || header === '') return asStreamQuery(query).after ?? null
  if (!/^\d{1,15}$/.test(header)) {
    throw new ServiceError('invalid_header', {
      param: 'Last-Event-ID',
      message: 'Last-Event-ID must be a sequence number.',
    })
  }
  return Number(header)
}
