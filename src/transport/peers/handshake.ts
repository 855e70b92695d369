import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Goes into every proof, so that a later form of the protocol never takes a proof of this one. */
const protocol = 'troupe-peer/1'

/** The nonces of one connection. */
export interface Nonces {
  readonly server: string
  readonly client: string
}

/** What nobody can have seen before: 256 random bits. */
export const newNonce = (): string => randomBytes(32).toString('base64url')

/** Whether a text can be a nonce or a proof: 256 bits. Nothing else goes into a proof, so that none can be read in two ways. */
export const is256Bits = (text: unknown): text is string => typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text)

/**
 * Shows that a side holds the key, for this connection alone and without telling the key. The sides' proofs differ, so
 * that neither can be sent back as the other's.
 */
export const proofOf = (key: Uint8Array, side: 'client' | 'server', { server, client }: Nonces): string =>
  createHmac('sha256', key).update(`${protocol} ${side} ${server} ${client}`).digest('base64url')

/** Compares in a time that does not depend on where they differ. */
export const sameProof = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
