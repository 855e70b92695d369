import type { EnvelopeName } from '#specs/dsl/declare.ts'
import type { Headers, HttpRequest, HttpResponse } from '../http/http-port.ts'
import type { Recheck } from '../streams/credential-watch.ts'
import type { BodyReservation } from './body/body-memory.ts'
import type { SentAnswerMemory } from './body/sent-answer-memory.ts'
import type { Endpoint } from './endpoint.ts'

/** One request on its way through the dispatcher. */
export interface Exchange {
  readonly request: HttpRequest
  response: HttpResponse
  readonly requestId: string
  /** From `performance.now()`. */
  readonly startedMs: number
  /** null until path and method have matched an operation. */
  readonly endpoint: Endpoint | null
  readonly envelope: EnvelopeName
  /** Headers of any answer: the request id, CORS, `Idempotent-Replayed`. */
  headers: Headers
  /** Checks that the credential still allows this operation; set on operations that may answer with a stream. */
  recheck?: Recheck
  /** Memory of the body, if that is long. */
  reservation?: BodyReservation
  /** Memory of the answer; absent before the caller is authenticated. */
  answerMemory?: SentAnswerMemory
  /** Created when the signal is first read. */
  aborter: AbortController | null
  /** Whether the server has ended the exchange before its answer (`cut`). */
  isCut: boolean
  /** Watches work that goes on without the peer, as the exchange itself (owner-watch.ts). */
  watchWork?: (work: Promise<unknown>) => void
  /** Stop what goes on without the peer, when the exchange is cut. */
  readonly stops: (() => void)[]
}

/** Returns a signal that aborts when the peer disconnects before the answer has ended. */
export const goneSignal = (exchange: Exchange): AbortSignal => {
  if (exchange.aborter !== null) return exchange.aborter.signal
  exchange.aborter = new AbortController()
  onGone(exchange, () => {})
  return exchange.aborter.signal
}

/**
 * Calls `listener`, and aborts the signal, when the peer disconnects before the answer has ended, or at once if it
 * already has.
 */
export const onGone = (exchange: Exchange, listener: () => void): void => {
  const gone = (): void => {
    exchange.aborter?.abort()
    listener()
  }
  if (exchange.response.closed) gone()
  else exchange.response.onClose(gone)
}

/** Calls `listener` when the server ends the exchange itself, or at once if it already has. */
export const onCut = (exchange: Exchange, listener: () => void): void => {
  if (exchange.isCut) listener()
  else exchange.stops.push(listener)
}

/** Returns a signal that aborts when the server ends the exchange itself, not when the peer disconnects. */
export const cutSignal = (exchange: Exchange): AbortSignal => {
  const aborter = new AbortController()
  onCut(exchange, () => aborter.abort())
  return aborter.signal
}

/** Adds headers to any answer of this exchange. */
export const addHeaders = (exchange: Exchange, headers: Headers): void => {
  if (headers.length > 0) exchange.headers = [...exchange.headers, ...headers]
}
