import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto'

/** A new random secret of 256 bits: `prefix` and 43 characters of base64url. */
export const mintSecret = (prefix: string): string => prefix + randomBytes(32).toString('base64url')

/** A new signing secret in the Standard Webhooks form: `whsec_` and base64 (not base64url) of the key. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Turns a secret into what is stored and looked up of it. */
export type SecretHash = (secret: string) => string

/**
 * HMAC-SHA256 under a pepper. A fast hash is enough, since our secrets have 256 random bits; the pepper makes a
 * stolen table useless for checking guesses, and looking up by hash leaks nothing by its timing.
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

/** Hashes that are remembered, by a hash that is made in a third of the time; secrets themselves are not kept. */
const maxKnown = 10_000
