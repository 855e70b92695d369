import { createServer, type Server, connect as secureConnect, type TLSSocket } from 'node:tls'
import { keyName } from '#records/derive-key.ts'
import type { HostPort } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'

/** Identifies this version of the protocol, so that a later one never accepts a caller of this version as its own. */
const identity = 'troupe-peer/2'

/**
 * TLS with a pre-shared key in place of certificates: a process without the key fails the handshake, and each
 * connection has ephemeral keys (ECDHE), which gives forward secrecy. Node supports this kind of key up to TLS 1.2.
 */
const suite = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const

/** The keys of one side: it proves its identity with `key`, and accepts a peer that holds any of them. */
export interface PeerKeys {
  readonly key: Uint8Array
  readonly otherKeys?: readonly Uint8Array[]
}

/**
 * The TLS identity. During a key change it names the key that the caller uses; otherwise it is fixed, as in earlier
 * releases.
 */
const identityOf = ({ key, otherKeys = [] }: PeerKeys): string => (otherKeys.length === 0 ? identity : named(key))

const named = (key: Uint8Array): string => `${identity}/${keyName(key)}`

/** Connects to a process that holds the same key; emits `secureConnect` when both sides have proved it. */
export const connectSecurely = (address: HostPort, keys: PeerKeys): TLSSocket =>
  secureConnect({
    ...suite,
    ...address,
    pskCallback: () => ({ psk: keys.key, identity: identityOf(keys) }),
    // there is no certificate to check a name against
    checkServerIdentity: () => undefined,
  })

/**
 * Accepts connections of processes that hold the same key.
 *
 * @param taken called with each once both sides have proved it.
 */
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
