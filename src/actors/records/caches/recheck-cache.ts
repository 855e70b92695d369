import type { CredentialChanges } from './credential-changes.ts'

export interface RecheckOptions<T> {
  /** Reads the store; null when the credential is not (or no longer) valid. */
  readonly load: (hash: string) => Promise<T | null>
  /** Age in ms from which an entry is not used until the store was read again. */
  readonly maxAgeMs: number
  /** Maximum number of entries; the one that was added first is evicted. */
  readonly maxEntries: number
  /** ms since the epoch. */
  readonly now: () => number
  /** Notified when an entry is forgotten, and notifies this cache of those that others forget; absent: neither. */
  readonly changes?: CredentialChanges | undefined
}

interface Entry<T> {
  value: T
  checkedAt: number
}

/**
 * Cache of verified credentials by hash, so that a frequently used one costs no read of the store.
 *
 * An entry is valid for `maxAgeMs`. In the second half of that time it is refreshed in the background, so a credential
 * in steady use is always answered at once, and one revoked on another node is refused after `maxAgeMs` at the latest.
 * Only valid credentials are cached, so guesses cannot fill it.
 */
export class RecheckCache<T> {
  readonly #options: RecheckOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  readonly #loading = new Map<string, Promise<T | null>>()
  /** Counts calls of `forget` and `clear`: a read that started before one may be stale, and must not be cached. */
  #forgets = 0

  constructor(options: RecheckOptions<T>) {
    this.#options = options
    options.changes?.onChange(() => this.#drop())
  }

  /** Returns the value if it is fresh; undefined when the store has to be read with `load`. */
  peek(hash: string): T | undefined {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return undefined
    const age = this.#options.now() - entry.checkedAt
    if (age >= this.#options.maxAgeMs || age < 0) return undefined
    if (age >= this.#options.maxAgeMs / 2) this.#refresh(hash)
    return entry.value
  }

  /** Reads the store; concurrent callers share one read. @throws what `load` throws. */
  load(hash: string): Promise<T | null> {
    const running = this.#loading.get(hash)
    if (running !== undefined) return running
    const reading = this.#read(hash).finally(() => {
      if (this.#loading.get(hash) === reading) this.#loading.delete(hash)
    })
    this.#loading.set(hash, reading)
    return reading
  }

  /** Removes a credential at once: its next use reads the store. */
  forget(hash: string): void {
    this.#forgets += 1
    this.#entries.delete(hash)
    this.#loading.delete(hash)
    this.#options.changes?.changed()
  }

  /** Removes all entries at once. */
  clear(): void {
    this.#drop()
    this.#options.changes?.changed()
  }

  #drop(): void {
    this.#forgets += 1
    this.#entries.clear()
    this.#loading.clear()
  }

  async #read(hash: string): Promise<T | null> {
    const { load, now } = this.#options
    const checkedAt = now()
    const forgets = this.#forgets
    const value = await load(hash)
    if (forgets !== this.#forgets) return value
    if (value === null) this.#entries.delete(hash)
    else this.#keep(hash, { value, checkedAt })
    return value
  }

  #keep(hash: string, entry: Entry<T>): void {
    if (!this.#entries.has(hash) && this.#entries.size >= this.#options.maxEntries) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    this.#entries.set(hash, entry)
  }

  /**
   * Refreshes an entry in the background. If that fails, the entry stays until it expires; then callers see the error.
   */
  #refresh(hash: string): void {
    if (this.#loading.has(hash)) return
    this.load(hash).catch(() => undefined)
  }
}
