import type { ServerResponse } from 'node:http'

/** Sends a document. */
export const sendJson = (response: ServerResponse, status: number, value: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Sends an error as OpenAI words it. */
export const sendError = (
  response: ServerResponse,
  status: number,
  code: string,
  retryAfterS: number | null = null,
): void => {
  if (retryAfterS !== null) response.setHeader('retry-after', retryAfterS)
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  sendJson(response, status, { error: { message: `Simulated refusal: ${code}.`, type, param: null, code } })
}
