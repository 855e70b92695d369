import { type DotProducts, dotProducts } from './dot-products.ts'
import { float32s, grown, int8s, uint8s } from './growing.ts'

const max = 127
/** Chosen so that the sum of 4,096 products fits into 32 bits. */
const maxOfQuery = 2047

/** A query's vector as integers, which multiply faster. */
export interface QueryVector {
  readonly numbers: Int32Array
  /** The same numbers as 16-bit integers. */
  readonly short: Int16Array
  readonly scale: number
}

/** A vector of length 1 at one byte per dimension. */
export interface ShortVector {
  readonly numbers: Int8Array
  /** Value of one unit of the numbers. */
  readonly unit: number
}

interface SomeCosines {
  readonly query: QueryVector
  readonly cosines: Float32Array
  readonly first: number
  readonly last: number
}

/** Knows how similar texts are that have nothing to do with one another. */
interface Unrelated {
  ofPassage(vector: Float32Array): number
}

/**
 * The vectors of an index, at one byte per dimension. All have the length of the first; one of another length, from an
 * earlier embedder, is treated as absent.
 */
export class VectorTable {
  #dimensions = 0
  #numbers = int8s(0)
  /** Value of one byte unit per slot; 0 where there is no vector. */
  #scales = float32s(0)
  /** 1 for each slot whose vector is in a store. */
  #stored = uint8s(0)
  /** What `unrelated` has returned per slot; 0: not known. */
  #unrelated = float32s(0)
  #unrelatedBy: Unrelated | null = null
  #count = 0

  get size(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#count * (this.#dimensions + 8)
  }

  has(slot: number): boolean {
    return (this.#scales[slot] ?? 0) > 0
  }

  /** Whether the slot's vector is not here but in a store. */
  isStored(slot: number): boolean {
    return this.#stored[slot] === 1
  }

  set(slot: number, vector: Float32Array | ShortVector | 'stored' | null): void {
    this.delete(slot)
    if (vector === 'stored') this.#markStored(slot)
    else if (vector !== null) this.#hold(slot, vector instanceof Float32Array ? shortVectorOf(vector) : vector)
  }

  #hold(slot: number, vector: ShortVector | null): void {
    if (vector === null) return
    const { numbers, unit } = vector
    if (this.#count === 0) this.#begin(numbers.length)
    if (numbers.length !== this.#dimensions) return
    const first = slot * this.#dimensions
    this.#numbers = grown(this.#numbers, first + this.#dimensions, int8s)
    this.#scales = grown(this.#scales, slot + 1, float32s)
    this.#numbers.set(numbers, first)
    this.#scales[slot] = unit
    this.#count++
  }

  #markStored(slot: number): void {
    this.#stored = grown(this.#stored, slot + 1, uint8s)
    this.#stored[slot] = 1
  }

  delete(slot: number): void {
    if (this.isStored(slot)) this.#stored[slot] = 0
    if (slot < this.#unrelated.length) this.#unrelated[slot] = 0
    if (!this.has(slot)) return
    this.#scales[slot] = 0
    this.#numbers.fill(0, slot * this.#dimensions, (slot + 1) * this.#dimensions)
    this.#count--
  }

  /** Prepares a query's vector for `cosine`; null when no vector of the table is comparable. */
  query(vector: Float32Array | null): QueryVector | null {
    return this.#count === 0 || vector?.length !== this.#dimensions ? null : queryVectorOf(vector)
  }

  /** Returns the cosine of the slot's vector and the query's; 0 for a slot without one. */
  cosine(slot: number, { numbers, scale }: QueryVector): number {
    const own = this.#scales[slot] ?? 0
    if (own === 0) return 0
    const [table, dimensions, first] = [this.#numbers, this.#dimensions, slot * this.#dimensions]
    let sum = 0
    for (let at = 0; at < dimensions; at++) sum = (sum + Math.imul(table[first + at] ?? 0, numbers[at] ?? 0)) | 0
    return sum * own * scale
  }

  /** Writes the `cosine` of each slot from `from` up to, not including, `to` into `cosines`. */
  cosines(
    query: QueryVector,
    cosines: Float32Array,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    const held = Math.min(to, this.#scales.length, Math.floor(this.#numbers.length / Math.max(1, this.#dimensions)))
    const products = dotProducts()
    const atOnce = products?.maxRows(this.#dimensions) ?? 0
    if (products === null || atOnce === 0) {
      for (let slot = from; slot < held; slot++) cosines[slot] = this.cosine(slot, query)
      return
    }
    for (let first = from; first < held; first += atOnce)
      this.#some(products, { query, cosines, first, last: Math.min(held, first + atOnce) })
  }

  #some(products: DotProducts, { query, cosines, first, last }: SomeCosines): void {
    const rows = this.#numbers.subarray(first * this.#dimensions, last * this.#dimensions)
    const sums = products.run(rows, query.short)
    for (let slot = first; slot < last; slot++)
      cosines[slot] = (sums[slot - first] ?? 0) * (this.#scales[slot] ?? 0) * query.scale
  }

  /** Returns the cosine that the slot's text has with unrelated questions. It is kept until the vector changes. */
  unrelated(slot: number, background: Unrelated): number {
    if (this.#unrelatedBy !== background) [this.#unrelatedBy, this.#unrelated] = [background, float32s(0)]
    const known = this.#unrelated[slot] ?? 0
    if (known !== 0 || !this.has(slot)) return known
    const first = slot * this.#dimensions
    const cosine = background.ofPassage(Float32Array.from(this.#numbers.subarray(first, first + this.#dimensions)))
    this.#unrelated = grown(this.#unrelated, slot + 1, float32s)
    this.#unrelated[slot] = cosine
    return cosine
  }

  /** Returns the cosine of two slots' vectors. */
  between(slot: number, other: number): number {
    const [own, its] = [this.#scales[slot] ?? 0, this.#scales[other] ?? 0]
    if (own === 0 || its === 0) return 0
    const [table, dimensions] = [this.#numbers, this.#dimensions]
    const [first, second] = [slot * dimensions, other * dimensions]
    let sum = 0
    for (let at = 0; at < dimensions; at++) sum += (table[first + at] ?? 0) * (table[second + at] ?? 0)
    return sum * own * its
  }

  #begin(dimensions: number): void {
    if (dimensions === this.#dimensions) return
    this.#dimensions = dimensions
    this.#numbers = int8s(0)
    this.#scales = float32s(0)
  }
}

/** Whether a vector says nothing about its text (`Embedder.embed`). */
export const isZero = (vector: Float32Array): boolean => vector.every((value) => value === 0)

/** Returns the short form of a vector; null when it has no direction. */
export function shortVectorOf(vector: Float32Array): ShortVector | null {
  const norm = normOf(vector)
  if (norm === 0) return null
  const scale = largestOf(vector) / max
  return { numbers: Int8Array.from(vector, (value) => Math.round(value / scale)), unit: scale / norm }
}

/** Returns the numbers of a query's vector; null when it has no direction. */
export function queryVectorOf(vector: Float32Array): QueryVector | null {
  const norm = normOf(vector)
  if (norm === 0) return null
  const scale = largestOf(vector) / maxOfQuery
  const numbers = new Int32Array(vector.length)
  for (let at = 0; at < vector.length; at++) numbers[at] = Math.round((vector[at] ?? 0) / scale)
  return { numbers, short: Int16Array.from(numbers), scale: scale / norm }
}

/** Returns the cosine of a query's vector and another one of the same length, at one byte per dimension. */
export function cosineOf({ numbers, scale }: QueryVector, other: Int8Array): number {
  let [sum, squares] = [0, 0]
  for (let at = 0; at < other.length; at++) {
    const number = other[at] ?? 0
    sum = (sum + Math.imul(number, numbers[at] ?? 0)) | 0
    squares += number * number
  }
  return squares === 0 ? 0 : (sum * scale) / Math.sqrt(squares)
}

/** Returns the Euclidean length of a vector; 0 when it contains non-finite numbers. */
function normOf(vector: Float32Array): number {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += (vector[at] ?? 0) ** 2
  return Number.isFinite(sum) ? Math.sqrt(sum) : 0
}

function largestOf(vector: Float32Array): number {
  let largest = 0
  for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at] ?? 0))
  return largest
}
