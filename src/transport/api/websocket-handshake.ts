import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'

const version = '13'
const keyShape = /^[A-Za-z0-9+/]{22}==$/

/**
 * Holds a request to the rules of a handshake (RFC 6455, 4.2.1) that a server's library does not look at: uWebSockets.js upgrades under
 * any version, and where a body stands before the frames, of which a proxy may see another end.
 *
 * @throws {ServiceError} `invalid_header`, which names the version that is spoken; `bad_request` for a request with a body
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
