import { deriveKey, type KeyPurpose } from '../derive-key.ts'

/** Purposes whose hashes and ids are stored: their keys stay when the master key is changed. */
export const lastingPurposes = [
  'api-keys',
  'dashboard-sessions',
  'mcp-inline-servers',
  'peers',
  'tool-headers',
] as const

/**
 * A purpose whose key stays. For `peers` it only identifies the installation; peers authenticate with a key derived
 * from the newest master key.
 */
export type LastingPurpose = (typeof lastingPurposes)[number]

/** A purpose whose key changes with the master key. */
type SigningPurpose = Extract<KeyPurpose, 'client-tokens' | 'sign-ins' | 'peers'>

/** The keys of a process, each derived from a master key (specs/decisions/0020-credentials.md). */
export interface ServerKeys {
  /** The key that signs new values. */
  current(purpose: SigningPurpose): Buffer
  /** Keys derived from the other configured master keys: signatures under these are accepted too. */
  others(purpose: SigningPurpose): readonly Buffer[]
  /** The key for hashes by which the store is searched. */
  lasting(purpose: LastingPurpose): Buffer
  /** Whether master keys other than the current one are configured. */
  readonly rotates: boolean
}

/** The master keys from which all other keys are derived. */
export interface MasterKeys {
  /** 32 bytes; seals and signs. */
  readonly masterKey: Uint8Array
  /** Used only to open sealed values and to verify signatures. */
  readonly previous?: readonly Uint8Array[]
}

/**
 * Derives the keys of a process.
 * @param lasting keys of an earlier master key; absent ones are derived from `masterKey`.
 */
export const keysOf = (
  { masterKey, previous = [] }: MasterKeys,
  lasting: Readonly<Partial<Record<LastingPurpose, Buffer>>> = {},
): ServerKeys => ({
  current: (purpose) => deriveKey(masterKey, purpose),
  others: (purpose) => previous.map((key) => deriveKey(key, purpose)),
  lasting: (purpose) => lasting[purpose] ?? deriveKey(masterKey, purpose),
  rotates: previous.length > 0,
})
