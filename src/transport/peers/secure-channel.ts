import { createServer, type Server, connect as secureConnect, type TLSSocket } from 'node:tls'
import type { HostPort } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'

/** Names this form of the protocol, so that a later one never takes a caller of this one for its own. */
const identity = 'troupe-peer/2'

/**
 * TLS by a key that both sides have, in place of certificates: a process without it gets no further than the
 * handshake, and each connection has keys of its own that cannot be found out later (ECDHE). Node offers keys of this
 * kind up to TLS 1.2.
 */
const suite = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const

/** Connects to a process that holds the same key; `secureConnect` when both have proven it. */
export const connectSecurely = (address: HostPort, key: Uint8Array): TLSSocket =>
  secureConnect({
    ...suite,
    ...address,
    pskCallback: () => ({ psk: key, identity }),
    // there is no certificate that could name a process
    checkServerIdentity: () => undefined,
  })

/** Takes connections of processes that hold the same key. @param taken gets each once both sides have proven it. */
export const secureServer = (key: Uint8Array, taken: (socket: TLSSocket) => void): Server =>
  createServer(
    {
      ...suite,
      pskIdentityHint: identity,
      pskCallback: (_, named) => (named === identity ? key : null),
      handshakeTimeout: peerLimits.handshakeMs,
    },
    taken,
  )
