import { createServer, type Server, connect as secureConnect, type TLSSocket } from 'node:tls'
import { keyName } from '#records/derive-key.ts'
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

/** The keys of one side: it proves itself by `key` and takes a peer that has one of them. */
export interface PeerKeys {
  readonly key: Uint8Array
  readonly otherKeys?: readonly Uint8Array[]
}

/** While a key is changed a caller says which one it has; otherwise there is one only, as in earlier releases. */
const identityOf = ({ key, otherKeys = [] }: PeerKeys): string => (otherKeys.length === 0 ? identity : named(key))

const named = (key: Uint8Array): string => `${identity}/${keyName(key)}`

/** Connects to a process that holds the same key; `secureConnect` when both have proven it. */
export const connectSecurely = (address: HostPort, keys: PeerKeys): TLSSocket =>
  secureConnect({
    ...suite,
    ...address,
    pskCallback: () => ({ psk: keys.key, identity: identityOf(keys) }),
    // there is no certificate that could name a process
    checkServerIdentity: () => undefined,
  })

/** Takes connections of processes that hold the same key. @param taken gets each once both sides have proven it. */
export const secureServer = (keys: PeerKeys, taken: (socket: TLSSocket) => void): Server => {
  const { key, otherKeys = [] } = keys
  const known = new Map([...otherKeys, key].map((each) => [named(each), each]))
  return createServer(
    {
      ...suite,
      pskIdentityHint: identity,
      pskCallback: (_, given) => (given === identity ? key : (known.get(given) ?? null)),
      handshakeTimeout: peerLimits.handshakeMs,
    },
    taken,
  )
}
