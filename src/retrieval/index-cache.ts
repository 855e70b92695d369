/** An index that can be cached. */
export interface CachedIndex {
  /** Estimated memory in bytes; it may grow while the index is cached. */
  readonly bytes: number
}

interface BoundedIndex extends CachedIndex {
  /** Removes it from its cache. */
  evict(): void
}

/** Memory of all indexes of a node, unless INDEX_MEMORY_MB is set. */
const defaultBytes = 384 * 1024 * 1024

/** The bound of the memory of indexes, which several caches share. A single index may exceed it. */
export class IndexBound {
  readonly #maxBytes: number
  /** Sizes as of the last use, least recently used first. */
  readonly #sizes = new Map<BoundedIndex, number>()
  #bytes = 0

  constructor(maxBytes = defaultBytes) {
    this.#maxBytes = maxBytes
  }

  /** Notes that an index is used. Those whose last use is longest ago are evicted beyond the bound. */
  used(index: BoundedIndex): void {
    this.gone(index)
    this.#sizes.set(index, index.bytes)
    this.#bytes += index.bytes
    for (const oldest of this.#sizes.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === index) return
      this.gone(oldest)
      oldest.evict()
    }
  }

  /** Notes that an index is in no cache any more. */
  gone(index: BoundedIndex): void {
    this.#bytes -= this.#sizes.get(index) ?? 0
    this.#sizes.delete(index)
  }
}

export interface IndexCacheOptions<T> {
  readonly bound: IndexBound
  /** Loads the index of a key from the store. */
  readonly load: (key: string) => Promise<T>
}

class Entry<T extends CachedIndex> implements BoundedIndex {
  readonly loading: Promise<T>
  readonly evict: () => void
  value: T | null = null

  constructor(loading: Promise<T>, evict: () => void) {
    this.loading = loading
    this.evict = evict
  }

  get bytes(): number {
    return this.value?.bytes ?? 0
  }
}

/**
 * Cache of indexes, bounded in bytes. Concurrent requests for one index cause one load, and a failed load is not cached.
 */
export class IndexCache<T extends CachedIndex> {
  readonly #options: IndexCacheOptions<T>
  readonly #entries = new Map<string, Entry<T>>()

  constructor(options: IndexCacheOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Returns the index of a key, loading it if necessary. */
  async get(key: string): Promise<T> {
    const entry = this.#entries.get(key) ?? this.#load(key)
    if (entry.value !== null) this.#options.bound.used(entry)
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
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#options.bound.gone(entry)
  }

  /** Removes the indexes of some keys, as `drop` does. */
  dropAll(isMeant: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (isMeant(key)) this.drop(key)
  }

  #load(key: string): Entry<T> {
    const isKept = (): boolean => this.#entries.get(key) === entry
    const entry: Entry<T> = new Entry(this.#options.load(key), () => this.#entries.delete(key))
    this.#entries.set(key, entry)
    entry.loading.then(
      (value) => {
        entry.value = value
        if (isKept()) this.#options.bound.used(entry)
      },
      () => isKept() && this.#entries.delete(key),
    )
    return entry
  }
}
