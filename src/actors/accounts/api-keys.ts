import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { Principal } from '../call/call.ts'
import { deriveKey, keyName } from '../records/derive-key.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, secretHash } from '../records/secrets.ts'
import { type KeyMaterial, KeyRing } from './key-ring.ts'
import { type ProjectKeyData, projectKeys } from './kinds.ts'

/** `csk_` and 256 random bits, or a key from the environment with at least 32 characters. */
const keyShape = /^csk_[A-Za-z0-9_-]{32,200}$/

/** `ApiKeys.pepperName` of an installation that was made under this master key. */
export const apiPepperName = (masterKey: Uint8Array): string => keyName(deriveKey(masterKey, 'api-keys'))

/** What key verification needs. */
export interface ApiKeysDeps {
  readonly records: RecordStore
  readonly keys: Pick<ServerKeys, 'lasting'>
  /** ms since the epoch. */
  readonly now: () => number
}

/** Mints and verifies secret project keys (`csk_…`). */
export class ApiKeys {
  /** Says whether two processes hash keys alike; it gives nothing of the pepper away. */
  readonly pepperName: string
  readonly #ring: KeyRing<ProjectKeyData, Principal>

  constructor({ records, keys, now }: ApiKeysDeps) {
    const pepper = keys.lasting('api-keys')
    this.pepperName = keyName(pepper)
    this.#ring = new KeyRing({
      records,
      kind: projectKeys,
      hash: secretHash(pepper),
      shape: keyShape,
      holderOf: (row) => Object.freeze({ kind: 'secret_key', project: row.project, keyId: row.id }),
      now,
    })
  }

  /** A new key: shown once, never stored. */
  mint(): { readonly secret: string; readonly material: KeyMaterial } {
    const secret = mintSecret('csk_')
    return { secret, material: this.materialOf(secret) }
  }

  /** What is stored of this key. */
  materialOf(secret: string): KeyMaterial {
    return this.#ring.materialOf(secret)
  }

  /** Who holds this key; null when it is unknown, revoked or expired. Mostly without a promise (`KeyRing.verify`). */
  verify(secret: string): Principal | null | Promise<Principal | null> {
    return this.#ring.verify(secret)
  }

  /** Makes this node read the store again for the key: call it after every change of its row. */
  forget(row: Row<ProjectKeyData>): void {
    this.#ring.forget(row)
  }
}
