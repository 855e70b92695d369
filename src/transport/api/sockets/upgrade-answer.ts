import { ServiceError } from '#specs/errors/errors.ts'
import type { UpgradeDecision, WebSocketPeer } from '#transport/http/http-port.ts'
import { envelop } from '../envelopes.ts'
import { headersOf } from '../refuse.ts'

/** Refuses an upgrade with an error, in the envelope of the socket's API. */
export const refusedUpgrade = (
  envelope: Parameters<typeof envelop>[0],
  error: ServiceError,
  requestId: string,
): UpgradeDecision => {
  const { status, body } = envelop(envelope, error, requestId)
  const headers = [
    ['content-type', 'application/json; charset=utf-8'] as const,
    ['x-request-id', requestId] as const,
    ...headersOf(error),
  ]
  return { refuse: { status, headers, body: JSON.stringify(body) } }
}

/**
 * Accepts the peer, or closes its socket with 1013 (try again later) when the last permits have been taken meanwhile or
 * a shutdown has begun.
 */
export const acceptOrClose = (peer: WebSocketPeer, accept: (peer: WebSocketPeer) => void): void => {
  try {
    accept(peer)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    peer.close(1013, error.code)
  }
}
