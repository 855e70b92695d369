import { createHash, hkdfSync } from 'node:crypto'

/** What a derived key is for; each purpose has a key of its own, so that one leaked key opens nothing else. */
export type KeyPurpose =
  | 'api-keys'
  | 'client-tokens'
  | 'dashboard-sessions'
  | 'mcp-inline-servers'
  | 'peers'
  | 'sign-ins'
  | 'tool-headers'

/** A 32-byte key for one purpose, from the master key (HKDF-SHA256). The same on every node and after every start. */
export const deriveKey = (masterKey: Uint8Array, purpose: KeyPurpose): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', `troupe/auth/${purpose}/v1`, 32))

/** A short public name of a key: what `kid` says. It reveals nothing about the key. */
export const keyName = (key: Uint8Array): string =>
  createHash('sha256').update('troupe/kid').update(key).digest('base64url').slice(0, 11)
