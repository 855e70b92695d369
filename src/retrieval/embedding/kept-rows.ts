/** Rows of numbers that a model has made of texts, by text: those used last, up to a number of numbers. */
export class KeptRows {
  readonly #max: number
  /** Least recently used first. */
  readonly #known = new Map<string, Float32Array>()
  #numbers = 0

  constructor(maxNumbers: number) {
    this.#max = maxNumbers
  }

  get(key: string): Float32Array | undefined {
    const known = this.#known.get(key)
    if (known === undefined) return undefined
    this.#known.delete(key)
    this.#known.set(key, known)
    return known
  }

  /** Keeps the rows of a text, unless they would take the place of many others. */
  set(key: string, rows: Float32Array): void {
    this.delete(key)
    if (rows.length > this.#max / 8) return
    this.#known.set(key, rows)
    this.#numbers += rows.length
    for (const [oldest] of this.#known) {
      if (this.#numbers <= this.#max) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#numbers -= this.#known.get(key)?.length ?? 0
    this.#known.delete(key)
  }
}
