import type { ServerKeys } from '#records/sealing/server-keys.ts'
import { projectScope } from '#storage/index.ts'
import type { Principal } from '../call/call.ts'
import { type LimitsField, withLimits } from '../call/reach.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { deriveKey, keyName } from '../records/derive-key.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, secretHash } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { type KeyMaterial, KeyRing } from './key-ring.ts'
import { type ProjectKeyData, projectKeys } from './kinds.ts'

/** `csk_` followed by 256 random bits, or by 32 to 200 characters of a key from the environment. */
const keyShape = /^csk_[A-Za-z0-9_-]{32,200}$/

/** `ApiKeys.pepperName` of an installation that was created under this master key. */
export const apiPepperName = (masterKey: Uint8Array): string => keyName(deriveKey(masterKey, 'api-keys'))

/** Dependencies of `ApiKeys`. */
export interface ApiKeysDeps extends Pick<Services, 'now' | 'records' | 'credentialChanges'> {
  readonly keys: Pick<ServerKeys, 'lasting'>
}

/** Mints and verifies secret project keys (`csk_…`). */
export class ApiKeys {
  /**
   * Fingerprint by which two processes can compare whether they hash keys alike. It reveals nothing about the pepper.
   */
  readonly pepperName: string
  readonly #ring: KeyRing<ProjectKeyData, Principal>
  /** Limits of keys that minted tokens, by project and id. */
  readonly #minters: RecheckCache<LimitsField>

  constructor({ records, keys, now, credentialChanges: changes }: ApiKeysDeps) {
    const pepper = keys.lasting('api-keys')
    this.pepperName = keyName(pepper)
    this.#ring = new KeyRing({
      records,
      kind: projectKeys,
      hash: secretHash(pepper),
      shape: keyShape,
      holderOf: ({ id, project, data }) =>
        Object.freeze({ kind: 'secret_key', project, keyId: id, ...withLimits(data.scopes) }),
      now,
      changes,
    })
    this.#minters = new RecheckCache({
      load: (known) => this.#minter(known, { records, now }),
      ...{ maxAgeMs: 1000, maxEntries: 10_000, now, changes },
    })
  }

  /** Mints a key, which is shown once and never stored. */
  mint(): { readonly secret: string; readonly material: KeyMaterial } {
    const secret = mintSecret('csk_')
    return { secret, material: this.materialOf(secret) }
  }

  /** Returns the stored form of a key. */
  materialOf(secret: string): KeyMaterial {
    return this.#ring.materialOf(secret)
  }

  /**
   * Returns the holder of a key; null when it is unknown, revoked or expired. Usually synchronous (`KeyRing.verify`).
   */
  verify(secret: string): Principal | null | Promise<Principal | null> {
    return this.#ring.verify(secret)
  }

  /**
   * Returns the limits of a key, which apply to tokens that it minted; null when the key is revoked or expired. A rotated
   * key keeps its limits until it expires. Synchronous for a key whose tokens are in use.
   */
  limitsOf(project: string, keyId: string): LimitsField | Promise<LimitsField | null> {
    const known = `${project} ${keyId}`
    return this.#minters.peek(known) ?? this.#minters.load(known)
  }

  /** Drops the cached key on this node: call it after every change of its row. */
  forget(row: Row<ProjectKeyData>): void {
    this.#ring.forget(row)
    this.#minters.forget(`${row.project} ${row.id}`)
  }

  async #minter(known: string, { records, now }: Pick<ApiKeysDeps, 'records' | 'now'>): Promise<LimitsField | null> {
    const [project = '', id = ''] = known.split(' ')
    const row = await new Table(records, projectKeys, now).get(projectScope(project), id)
    if (row === null || row.data.revoked_at_ms !== null) return null
    const { expires_at_ms: end, scopes } = row.data
    if (end !== null && end <= now()) return null
    return withLimits(scopes)
  }
}
