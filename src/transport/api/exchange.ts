import type { EnvelopeName } from '#specs/dsl/declare.ts'
import type { Headers, HttpRequest, HttpResponse } from '../http/http-port.ts'
import type { LookAgain } from '../streams/credential-watch.ts'
import type { AnswerPlace } from './body/answer-place.ts'
import type { BodySeat } from './body/body-room.ts'
import type { Endpoint } from './endpoint.ts'

/** One request on its way through the dispatcher. */
export interface Exchange {
  readonly request: HttpRequest
  response: HttpResponse
  readonly requestId: string
  /** From `performance.now()`. */
  readonly startedMs: number
  /** null before a path and method were found to lead anywhere. */
  readonly endpoint: Endpoint | null
  readonly envelope: EnvelopeName
  /** Headers of whatever is answered: the request id, CORS, `Idempotent-Replayed`. */
  headers: Headers
  /** Checks that the credential still opens this operation; present on operations that may answer a stream. */
  look?: LookAgain
  /** The room of its body, where that is long. */
  seat?: BodySeat
  /** The room of its answer; absent before it is known who calls. */
  place?: AnswerPlace
  /** Made when the signal is first read. */
  aborter: AbortController | null
}

/** Aborts when the peer goes before the answer has ended. */
export const goneSignal = (exchange: Exchange): AbortSignal => {
  if (exchange.aborter !== null) return exchange.aborter.signal
  exchange.aborter = new AbortController()
  onGone(exchange, () => {})
  return exchange.aborter.signal
}

/** Called when the peer goes before the answer has ended, also when it is gone already; the signal aborts with it. */
export const onGone = (exchange: Exchange, listener: () => void): void => {
  const gone = (): void => {
    exchange.aborter?.abort()
    listener()
  }
  if (exchange.response.closed) gone()
  else exchange.response.onClose(gone)
}

/** Adds a header to whatever will be answered. */
export const addHeaders = (exchange: Exchange, headers: Headers): void => {
  if (headers.length > 0) exchange.headers = [...exchange.headers, ...headers]
}
