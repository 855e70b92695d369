import { projectScope, type RecordStore } from '#storage/index.ts'
import type { CredentialChanges } from '../records/caches/credential-changes.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { type Row, rowOf, type TypedKind } from '../records/schema.ts'
import type { SecretHash } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import type { StoredKey } from './kinds.ts'

/** How long another node may still accept a key that was revoked on this node, in ms. */
const recheckMs = 1000

/** `last_used_at` is written at most this often per key and node, in ms. */
const lastUsedEveryMs = 60_000

const maxCached = 50_000

interface VerifiedKey<H> {
  readonly holder: H
  readonly project: string
  readonly keyId: string
  readonly expiresAtMs: number | null
  lastUsedWrittenMs: number
}

/** The stored form of a key, without its name: enough to verify it, and for people to recognise it. */
export type KeyMaterial = Pick<StoredKey, 'hash' | 'prefix' | 'last4'>

/** Configuration of one type of key. */
export interface KeyRingOptions<T extends StoredKey, H> {
  readonly records: RecordStore
  readonly kind: TypedKind<T>
  readonly hash: SecretHash
  /** Format of such a key; other strings are rejected without a lookup. */
  readonly shape: RegExp
  /** Returns the holder of the key; null when the key is not valid any more, whatever its row says. */
  readonly holderOf: (row: Row<T>) => H | null | Promise<H | null>
  /** ms since the epoch. */
  readonly now: () => number
  readonly changes?: CredentialChanges | undefined
}

/** Verifies keys that are stored as hashes. A cached key costs one HMAC, so thousands can be verified per second. */
export class KeyRing<T extends StoredKey, H> {
  readonly #options: KeyRingOptions<T, H>
  readonly #table: Table<StoredKey>
  readonly #cache: RecheckCache<VerifiedKey<H>>

  constructor(options: KeyRingOptions<T, H>) {
    this.#options = options
    this.#table = new Table<StoredKey>(options.records, options.kind, options.now)
    this.#cache = new RecheckCache({
      load: (hash) => this.#load(hash),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now: options.now,
      changes: options.changes,
    })
  }

  /** Returns the stored form of a key. */
  materialOf(secret: string): KeyMaterial {
    return { hash: this.#options.hash(secret), prefix: secret.slice(0, 8), last4: secret.slice(-4) }
  }

  /**
   * Returns the holder of a key; null when the key is unknown, revoked or expired. Returns synchronously for a key seen
   * within the last second.
   */
  verify(secret: string): H | null | Promise<H | null> {
    const { shape, hash: hashOf } = this.#options
    if (!shape.test(secret)) return null
    const hash = hashOf(secret)
    const known = this.#cache.peek(hash)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(hash).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  /** Drops the cached key on this node: call it after every change of its row. */
  forget(row: Row<StoredKey>): void {
    this.#cache.forget(row.data.hash)
  }

  #accept(key: VerifiedKey<H>): H | null {
    const now = this.#options.now()
    if (key.expiresAtMs !== null && key.expiresAtMs <= now) return null
    if (now - key.lastUsedWrittenMs >= lastUsedEveryMs) this.#noteUse(key, now)
    return key.holder
  }

  async #load(hash: string): Promise<VerifiedKey<H> | null> {
    const row = await this.#table.findGlobal({ hash })
    if (row === null || row.data.revoked_at_ms !== null) return null
    const holder = await this.#options.holderOf(rowOf(this.#options.kind, row))
    if (holder === null) return null
    return {
      holder,
      project: row.project,
      keyId: row.id,
      expiresAtMs: row.data.expires_at_ms,
      lastUsedWrittenMs: row.data.last_used_at_ms ?? 0,
    }
  }

  /**
   * Writes `last_used_at` in the background. Requests do not wait for it, and a failed write is made up for a minute
   * later.
   */
  #noteUse(key: VerifiedKey<H>, now: number): void {
    key.lastUsedWrittenMs = now
    this.#table
      .change(projectScope(key.project), key.keyId, { edit: (row) => ({ ...row.data, last_used_at_ms: now }) })
      .catch(() => undefined)
  }
}
