import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

const version = '13'
const keyShape = /^[A-Za-z0-9+/]{22}==$/

/**
 * Checks rules of a handshake (RFC 6455, 4.2.1) that the server's library ignores: uWebSockets.js upgrades under any
 * version, and with a body before the frames, whose end a proxy may place elsewhere.
 *
 * @throws {ServiceError} `invalid_header`, with the supported version in a header; `bad_request` for a request with a
 * body
 */
export const checkHandshake = (request: Pick<HttpRequest, 'header'>): void => {
  if (request.header('sec-websocket-version') !== version)
    throw invalid('Sec-WebSocket-Version', `takes ${version}`, [['sec-websocket-version', version]])
  if (!keyShape.test(request.header('sec-websocket-key') ?? ''))
    throw invalid('Sec-WebSocket-Key', 'takes one value of 16 bytes in base64')
  const length = request.header('content-length') ?? '0'
  if (Number(length) !== 0 || request.header('transfer-encoding') !== undefined)
    throw new ServiceError('bad_request', { message: 'An upgrade has no body.' })
}

const invalid = (param: string, rule: string, headers: readonly (readonly [string, string])[] = []): ServiceError =>
  new ServiceError('invalid_header', { param, message: `${param} ${rule}.`, headers })
