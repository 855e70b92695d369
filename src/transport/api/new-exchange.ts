import type { EnvelopeName } from '#specs/dsl/declare.ts'
import { type CorsQuestion, corsHeaders, originIn } from '../cors.ts'
import type { Headers, HttpRequest, HttpResponse } from '../http/http-port.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { envelopeFor } from './sdk-callers.ts'

/** Begins the exchange of a request, whose answer has the request id and, where the operation allows it, CORS headers. */
export const newExchange = (
  request: HttpRequest,
  response: HttpResponse,
  {
    id,
    endpoint,
    envelope = 'platform',
  }: {
    readonly id: string
    readonly endpoint: Endpoint | null
    /** For a path that is no operation. */
    readonly envelope?: EnvelopeName
  },
): Exchange => {
  const answers = endpoint?.operation.cors ?? false
  return {
    request,
    response,
    requestId: id,
    startedMs: performance.now(),
    endpoint,
    envelope: endpoint === null ? envelope : envelopeFor(endpoint.operation, request),
    headers: headersFor(id, {
      answers,
      origin: answers ? originIn(request.header('origin')) : undefined,
      allowed: true,
    }),
    aborter: null,
    isCut: false,
    stops: [],
  }
}

/** Headers of every answer. */
export const headersFor = (id: string, question: CorsQuestion): Headers => [
  ['x-request-id', id],
  ...corsHeaders(question),
]
