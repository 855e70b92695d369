/** An index that can be cached. */
export interface CachedIndex {
  /** Estimated memory in bytes; it may grow while the index is cached. */
  readonly bytes: number
}

export interface IndexCacheOptions<T> {
  readonly maxBytes: number
  /** Loads the index of a key from the store. */
  readonly load: (key: string) => Promise<T>
}

interface Entry<T> {
  readonly loading: Promise<T>
  value: T | null
}

/**
 * LRU cache of indexes, bounded in bytes; a single index may exceed the bound. Concurrent requests for one index cause
 * one load, and a failed load is not cached.
 */
export class IndexCache<T extends CachedIndex> {
  readonly #options: IndexCacheOptions<T>
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<T>>()

  constructor(options: IndexCacheOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { value }) => sum + (value?.bytes ?? 0), 0)
  }

  /** Returns the index of a key, loading it if necessary. */
  async get(key: string): Promise<T> {
    const entry = this.#entries.get(key) ?? this.#load(key)
    if (this.#entries.delete(key)) this.#entries.set(key, entry)
    return await entry.loading
  }

  /**
   * Applies a change to the index if it is cached; during a load after it has finished, since the load may have read
   * the store before the change. Changes must be idempotent, because the load may also have read the change already.
   */
  update(key: string, change: (index: T) => void): void {
    const entry = this.#entries.get(key)
    if (entry?.value) change(entry.value)
    else entry?.loading.then(change, () => undefined)
  }

  /** Removes the index; one that is being loaded is not kept either. */
  drop(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  #load(key: string): Entry<T> {
    const entry: Entry<T> = { loading: this.#options.load(key), value: null }
    this.#entries.set(key, entry)
    entry.loading.then(
      (value) => {
        entry.value = value
        this.#evict(entry)
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      },
    )
    return entry
  }

  #evict(newest: Entry<T>): void {
    let bytes = this.bytes
    for (const [key, entry] of this.#entries) {
      if (bytes <= this.#options.maxBytes) return
      if (entry === newest || entry.value === null) continue
      this.#entries.delete(key)
      bytes -= entry.value.bytes
    }
  }
}
