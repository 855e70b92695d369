import { projectScope } from '../../../specs/scope.ts'
import type { RecordStore } from '../../storage/ports.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { Principal } from '../use-cases/call.ts'
import { deriveKey, keyName } from './derive-key.ts'
import { type ProjectKeyData, projectKeys } from './kinds.ts'
import { RecheckCache } from './recheck-cache.ts'
import { mintSecret, type SecretHash, secretHash } from './secrets.ts'

/** How long another node may still take a key that was revoked here, in ms. */
const recheckMs = 1000

/** `last_used_at` is written at most this often per key and node, in ms. */
const lastUsedEveryMs = 60_000

const maxCached = 50_000

/** `csk_` and 256 random bits, or a key from the environment with at least 32 characters. */
const keyShape = /^csk_[A-Za-z0-9_-]{32,200}$/

interface VerifiedKey {
  readonly principal: Principal
  readonly project: string
  readonly keyId: string
  readonly expiresAtMs: number | null
  lastUsedWrittenMs: number
}

/** What is stored of a key, beside its name: enough to verify and to recognise it. */
export type KeyMaterial = Pick<ProjectKeyData, 'hash' | 'prefix' | 'last4'>

/** `ApiKeys.pepperName` under this master key. */
export const apiPepperName = (masterKey: Uint8Array): string => keyName(deriveKey(masterKey, 'api-keys'))

/** What key verification needs. */
export interface ApiKeysDeps {
  readonly records: RecordStore
  readonly masterKey: Uint8Array
  /** ms since the epoch. */
  readonly now: () => number
}

/** Mints and verifies secret project keys (`csk_…`). Thousands of verifications a second: a known key costs one HMAC. */
export class ApiKeys {
  /** Tells whether two processes hash keys alike; it gives nothing of the pepper away. */
  readonly pepperName: string
  readonly #table: Table<ProjectKeyData>
  readonly #cache: RecheckCache<VerifiedKey>
  readonly #hash: SecretHash
  readonly #now: () => number

  constructor({ records, masterKey, now }: ApiKeysDeps) {
    this.#table = new Table(records, projectKeys, now)
    this.#hash = secretHash(deriveKey(masterKey, 'api-keys'))
    this.pepperName = apiPepperName(masterKey)
    this.#now = now
    this.#cache = new RecheckCache({
      load: (hash) => this.#load(hash),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
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
    return { hash: this.#hash(secret), prefix: secret.slice(0, 8), last4: secret.slice(-4) }
  }

  /**
   * Who holds this key; null when it is unknown, revoked or expired. Answers without a promise for a key seen within
   * the last second.
   */
  verify(secret: string): Principal | null | Promise<Principal | null> {
    if (!keyShape.test(secret)) return null
    const hash = this.#hash(secret)
    const known = this.#cache.peek(hash)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(hash).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  /** Makes this node ask the store again for the key: call it after every change of its row. */
  forget(row: Row<ProjectKeyData>): void {
    this.#cache.forget(row.data.hash)
  }

  #accept(key: VerifiedKey): Principal | null {
    const now = this.#now()
    if (key.expiresAtMs !== null && key.expiresAtMs <= now) return null
    if (now - key.lastUsedWrittenMs >= lastUsedEveryMs) this.#noteUse(key, now)
    return key.principal
  }

  async #load(hash: string): Promise<VerifiedKey | null> {
    const row = await this.#table.findGlobal({ hash })
    if (row === null || row.data.revoked_at_ms !== null) return null
    return {
      principal: Object.freeze({ kind: 'secret_key', project: row.project, keyId: row.id }),
      project: row.project,
      keyId: row.id,
      expiresAtMs: row.data.expires_at_ms,
      lastUsedWrittenMs: row.data.last_used_at_ms ?? 0,
    }
  }

  /** In the background: a request never waits for it, and one that is lost is written a minute later. */
  #noteUse(key: VerifiedKey, now: number): void {
    key.lastUsedWrittenMs = now
    this.#table
      .change(projectScope(key.project), key.keyId, (row) => ({ ...row.data, last_used_at_ms: now }))
      .catch(() => undefined)
  }
}
