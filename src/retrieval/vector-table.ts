import { dotProducts } from './dot-products.ts'
import { float32s, grown, int8s, uint8s } from './growing.ts'
import type { VectorRows } from './segments/document-segment.ts'

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

interface SomeRows {
  readonly numbers: Int8Array
  /** Slot of the first row of the numbers. */
  readonly origin: number
  readonly from: number
  readonly to: number
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
  /** Vectors of segments, in the order of their slots, which are read where they lie. */
  readonly #blocks: { readonly first: number; readonly end: number; readonly numbers: Int8Array }[] = []

  get size(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#count * 8 + this.#numbers.length
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
    if (vector === 'stored') this.markStored(slot)
    else if (vector !== null) this.#hold(slot, vector instanceof Float32Array ? shortVectorOf(vector) : vector)
  }

  /** Adds the vectors of a segment. @param kept 1 for each that is not left out. */
  attach(first: number, { dimensions, numbers, units }: VectorRows, kept: Uint8Array): void {
    if (this.#count === 0) this.#begin(dimensions)
    if (dimensions !== this.#dimensions) return
    const end = first + units.length
    this.#blocks.push({ first, end, numbers })
    this.#scales = grown(this.#scales, end, float32s)
    for (let row = 0; row < units.length; row++) {
      const unit = kept[row] === 1 ? (units[row] ?? 0) : 0
      this.#scales[first + row] = unit
      if (unit !== 0) this.#count++
    }
  }

  /** Returns where the numbers of a slot are. */
  #rowOf(slot: number): Int8Array {
    const block = this.#blocks.find(({ first, end }) => slot >= first && slot < end)
    const at = (slot - (block?.first ?? 0)) * this.#dimensions
    return (block?.numbers ?? this.#numbers).subarray(at, at + this.#dimensions)
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

  /** Marks a slot as searched by a store. */
  markStored(slot: number): void {
    this.#stored = grown(this.#stored, slot + 1, uint8s)
    this.#stored[slot] = 1
  }

  delete(slot: number): void {
    if (this.isStored(slot)) this.#stored[slot] = 0
    if (slot < this.#unrelated.length) this.#unrelated[slot] = 0
    if (!this.has(slot)) return
    // its numbers stay: without a scale they are none
    this.#scales[slot] = 0
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
    const row = this.#rowOf(slot)
    let sum = 0
    for (let at = 0; at < row.length; at++) sum = (sum + Math.imul(row[at] ?? 0, numbers[at] ?? 0)) | 0
    return sum * own * scale
  }

  /** Writes the `cosine` of each slot from `from` up to, not including, `to` into `cosines`. */
  cosines(
    query: QueryVector,
    cosines: Float32Array,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    for (const { first, end, numbers } of [...this.#blocks, this.#pool])
      this.#cosinesIn(query, cosines, { numbers, origin: first, from: Math.max(from, first), to: Math.min(to, end) })
  }

  /** The vectors of an index without segments: one with them has no others. */
  get #pool() {
    const held = Math.floor(this.#numbers.length / Math.max(1, this.#dimensions))
    const end = this.#blocks.length > 0 ? 0 : Math.min(this.#scales.length, held)
    return { first: 0, end, numbers: this.#numbers }
  }

  #cosinesIn(query: QueryVector, cosines: Float32Array, { numbers, origin, from, to }: SomeRows): void {
    const products = dotProducts()
    const atOnce = products?.maxRows(this.#dimensions) ?? 0
    if (products === null || atOnce === 0) {
      for (let slot = from; slot < to; slot++) cosines[slot] = this.cosine(slot, query)
      return
    }
    for (let first = from; first < to; first += atOnce) {
      const last = Math.min(to, first + atOnce)
      const rows = numbers.subarray((first - origin) * this.#dimensions, (last - origin) * this.#dimensions)
      const sums = products.run(rows, query.short)
      for (let slot = first; slot < last; slot++) {
        const scale = this.#scales[slot] ?? 0
        cosines[slot] = scale === 0 ? 0 : (sums[slot - first] ?? 0) * scale * query.scale
      }
    }
  }

  /** Returns the cosine that the slot's text has with unrelated questions. It is kept until the vector changes. */
  unrelated(slot: number, background: Unrelated): number {
    if (this.#unrelatedBy !== background) [this.#unrelatedBy, this.#unrelated] = [background, float32s(0)]
    const known = this.#unrelated[slot] ?? 0
    if (known !== 0 || !this.has(slot)) return known
    const cosine = background.ofPassage(Float32Array.from(this.#rowOf(slot)))
    this.#unrelated = grown(this.#unrelated, slot + 1, float32s)
    this.#unrelated[slot] = cosine
    return cosine
  }

  /** Returns the cosine of two slots' vectors. */
  between(slot: number, other: number): number {
    const [own, its] = [this.#scales[slot] ?? 0, this.#scales[other] ?? 0]
    if (own === 0 || its === 0) return 0
    const [row, second] = [this.#rowOf(slot), this.#rowOf(other)]
    let sum = 0
    for (let at = 0; at < row.length; at++) sum += (row[at] ?? 0) * (second[at] ?? 0)
    return sum * own * its
  }

  #begin(dimensions: number): void {
    if (dimensions === this.#dimensions) return
    this.#dimensions = dimensions
    this.#blocks.length = 0
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
