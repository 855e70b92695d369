import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto'

/** A new random secret of 256 bits: `prefix` and 43 characters of base64url. */
export const mintSecret = (prefix: string): string => prefix + randomBytes(32).toString('base64url')

/** A new signing secret in the Standard Webhooks form: `whsec_` and base64 (not base64url) of the key. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Hashes a secret; the hash is what is stored and looked up. */
export type SecretHash = (secret: string) => string

/**
 * Returns a hash function: HMAC-SHA256 under a pepper. A fast hash is enough, since the secrets have 256 random bits.
 * The pepper makes a stolen table useless for checking guesses, and lookups by hash leak nothing by their timing.
 */
export const secretHash = (pepper: Uint8Array): SecretHash => {
  const key = createSecretKey(pepper)
  const known = new Map<string, string>()
  return (secret) => {
    const name = hash('sha256', secret, 'base64')
    const found = known.get(name)
    if (found !== undefined) return found
    const made = createHmac('sha256', key).update(secret).digest('base64url')
    if (known.size >= maxKnown) known.clear()
    known.set(name, made)
    return made
  }
}

/**
 * Maximum number of memoised hashes. They are keyed by a plain SHA-256, which takes a third of the time; secrets
 * themselves are not kept.
 */
const maxKnown = 10_000
