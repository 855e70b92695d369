import { createHash, hkdfSync } from 'node:crypto'

/** Purpose of a derived key. Each purpose has its own key, so that a leaked key is useless for the others. */
export type KeyPurpose =
  | 'api-keys'
  | 'client-tokens'
  | 'dashboard-sessions'
  | 'mcp-inline-servers'
  | 'peers'
  | 'sign-ins'
  | 'tool-headers'

/** Derives a 32-byte key for one purpose from the master key (HKDF-SHA256). Every node derives the same key. */
export const deriveKey = (masterKey: Uint8Array, purpose: KeyPurpose): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', `troupe/auth/${purpose}/v1`, 32))

/** Returns a short public name of a key, for `kid`. It reveals nothing about the key. */
export const keyName = (key: Uint8Array): string =>
  createHash('sha256').update('troupe/kid').update(key).digest('base64url').slice(0, 11)
