import type { ServerResponse } from 'node:http'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'

/** Time of every answer, in s since the epoch: equal requests get equal answers. */
export const createdS = 1_767_225_600

/** Sends a JSON document; a long one once it is serialised over several loop turns. */
export const sendJson = (response: ServerResponse, status: number, value: object): void => {
  const send = (body: string | Uint8Array): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  const body = encodeJson(value)
  if (body instanceof Promise) void body.then(send)
  else send(body)
}

/** Sends an error in OpenAI's format. */
export const sendError = (response: ServerResponse, status: number, code: string): void => {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  sendJson(response, status, { error: { message: `Simulated refusal: ${code}.`, type, param: null, code } })
}

/** An error, with the seconds after which to retry; null for none. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly retryAfterS: number | null
}

/** Sends an error, with `Retry-After` where given. */
export const sendRefusal = (response: ServerResponse, { status, code, retryAfterS }: Refusal): void => {
  if (retryAfterS !== null) response.setHeader('retry-after', retryAfterS)
  sendError(response, status, code)
}
