import { deriveKey, type KeyPurpose } from '../derive-key.ts'

/** Purposes whose hashes and ids stand in the store: their keys stay when the master key is changed. */
export const lastingPurposes = [
  'api-keys',
  'dashboard-sessions',
  'mcp-inline-servers',
  'peers',
  'tool-headers',
] as const

/** A purpose whose key stays. `peers` only names the installation by it; what proves a peer is of the newest master key. */
export type LastingPurpose = (typeof lastingPurposes)[number]

/** A purpose whose key changes with the master key. */
export type SigningPurpose = Extract<KeyPurpose, 'client-tokens' | 'sign-ins' | 'peers'>

/** The keys of one process, each derived from a master key (specs/decisions/0212-another-master-key.md). */
export interface ServerKeys {
  /** Signs from now on. */
  current(purpose: SigningPurpose): Buffer
  /** Of the other master keys that the operator names: what they signed is taken as well. */
  others(purpose: SigningPurpose): readonly Buffer[]
  /** Hashes what the store is searched by. */
  lasting(purpose: LastingPurpose): Buffer
  /** Whether the operator names other master keys than the one that seals. */
  readonly rotates: boolean
}

/** What keys are derived from. */
export interface MasterKeys {
  /** 32 bytes; seals and signs. */
  readonly masterKey: Uint8Array
  /** Only open, and are only believed. */
  readonly previous?: readonly Uint8Array[]
}

/** @param lasting keys of an earlier master key; what is absent is derived from `masterKey`. */
export const keysOf = (
  { masterKey, previous = [] }: MasterKeys,
  lasting: Readonly<Partial<Record<LastingPurpose, Buffer>>> = {},
): ServerKeys => ({
  current: (purpose) => deriveKey(masterKey, purpose),
  others: (purpose) => previous.map((key) => deriveKey(key, purpose)),
  lasting: (purpose) => lasting[purpose] ?? deriveKey(masterKey, purpose),
  rotates: previous.length > 0,
})
