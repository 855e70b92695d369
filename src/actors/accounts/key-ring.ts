import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { RecheckCache } from '../records/recheck-cache.ts'
import { type Row, rowOf, type TypedKind } from '../records/schema.ts'
import type { SecretHash } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import type { StoredKey } from './kinds.ts'

/** How long another node may still take a key that was revoked here, in ms. */
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

/** What is stored of a key, beside its name: enough to verify and to recognise it. */
export type KeyMaterial = Pick<StoredKey, 'hash' | 'prefix' | 'last4'>

/** One sort of key. */
export interface KeyRingOptions<T extends StoredKey, H> {
  readonly records: RecordStore
  readonly kind: TypedKind<T>
  readonly hash: SecretHash
  /** What a key of this sort looks like; anything else is not looked up. */
  readonly shape: RegExp
  /** Who holds the key; null when it is not good any more, whatever its row says. */
  readonly holderOf: (row: Row<T>) => H | null | Promise<H | null>
  /** ms since the epoch. */
  readonly now: () => number
}

/** Keys that are stored by their hash. Thousands of verifications a second: a known key costs one HMAC. */
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
    })
  }

  /** What is stored of this key. */
  materialOf(secret: string): KeyMaterial {
    return { hash: this.#options.hash(secret), prefix: secret.slice(0, 8), last4: secret.slice(-4) }
  }

  /**
   * Who holds this key; null when it is unknown, revoked or expired. Answers without a promise for a key seen within
   * the last second.
   */
  verify(secret: string): H | null | Promise<H | null> {
    const { shape, hash: hashOf } = this.#options
    if (!shape.test(secret)) return null
    const hash = hashOf(secret)
    const known = this.#cache.peek(hash)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(hash).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  /** Makes this node read the store again for the key: call it after every change of its row. */
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

  /** In the background: a request never waits for it, and one that is lost is written a minute later. */
  #noteUse(key: VerifiedKey<H>, now: number): void {
    key.lastUsedWrittenMs = now
    this.#table
      .change(projectScope(key.project), key.keyId, { edit: (row) => ({ ...row.data, last_used_at_ms: now }) })
      .catch(() => undefined)
  }
}
