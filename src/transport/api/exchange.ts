import type { EnvelopeName } from '../../../specs/declare.ts'
import type { Headers, HttpRequest, HttpResponse } from '../http-port.ts'
import type { Endpoint } from './endpoint.ts'

/** One request on its way through the dispatcher. */
export interface Exchange {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly requestId: string
  /** From `performance.now()`. */
  readonly startedMs: number
  /** null before a path and method were found to lead anywhere. */
  readonly endpoint: Endpoint | null
  readonly envelope: EnvelopeName
  /** Headers of whatever is answered: the request id, CORS, `Idempotent-Replayed`. */
  headers: Headers
}

/** Adds a header to whatever will be answered. */
export const addHeaders = (exchange: Exchange, headers: Headers): void => {
  if (headers.length > 0) exchange.headers = [...exchange.headers, ...headers]
}
