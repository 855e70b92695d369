/** An index as the cache knows it. */
export interface CachedIndex {
  /** Estimate of its memory; it may grow while it is cached. */
  readonly bytes: number
}

export interface IndexCacheOptions<T> {
  readonly mostBytes: number
  /** Reads the index of a key from the store. */
  readonly load: (key: string) => Promise<T>
}

interface Entry<T> {
  readonly loading: Promise<T>
  value: T | null
}

/**
 * The indexes that are used most recently, within a bound of bytes; one alone may exceed it. Many that want the same at
 * once cause one load, and a load that fails is forgotten.
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

  /** The index of the key, loaded when it is not here. */
  async get(key: string): Promise<T> {
    const entry = this.#entries.get(key) ?? this.#load(key)
    if (this.#entries.delete(key)) this.#entries.set(key, entry)
    return await entry.loading
  }

  /**
   * Makes a change in the index if it is here; after its load while that is in progress, since the load may have read
   * the store before the change. The change must be able to meet itself: what is read later has it already.
   */
  update(key: string, change: (index: T) => void): void {
    const entry = this.#entries.get(key)
    if (entry?.value) change(entry.value)
    else entry?.loading.then(change, () => undefined)
  }

  /** Forgets the index; one that is being loaded is not kept either. */
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
      if (bytes <= this.#options.mostBytes) return
      if (entry === newest || entry.value === null) continue
      this.#entries.delete(key)
      bytes -= entry.value.bytes
    }
  }
}
