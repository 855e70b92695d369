import { int32s } from '../growing.ts'
import { hash32 } from './hash.ts'

/** Terms of a segment in the order of their hashes, and the place of each number among them. */
export interface OrderedTerms {
  readonly terms: readonly string[]
  readonly hashes: Uint32Array
  readonly places: Int32Array
}

/** Numbers each term of a segment. */
export class TermNumbers {
  readonly #numbers = new Map<string, number>()

  of(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    this.#numbers.set(term, this.#numbers.size)
    return this.#numbers.size - 1
  }

  *ordered(): Generator<void, OrderedTerms, void> {
    const buckets: number[][] = Array.from({ length: bucketCount }, () => [])
    const all = [...this.#numbers.keys()]
    for (const [number, term] of all.entries()) {
      const hash = hash32(term)
      buckets[hash >>> bucketShift]?.push((hash & bucketMask) * maxTerms + number)
      if (number % 8_192 === 0) yield
    }
    const [terms, hashes, places]: [string[], Uint32Array, Int32Array] = [
      [],
      new Uint32Array(all.length),
      int32s(all.length),
    ]
    for (const [high, bucket] of buckets.entries()) {
      for (const key of Float64Array.from(bucket).sort()) {
        const number = key % maxTerms
        const place = terms.push(all[number] ?? '') - 1
        hashes[place] = high * 2 ** bucketShift + Math.floor(key / maxTerms)
        places[number] = place
      }
      yield
    }
    return { terms, hashes, places }
  }
}

/** Terms are ordered in parts, by the upper bits of their hashes: ordering all at once would hold the event loop. */
const bucketCount = 64
const bucketShift = 26
const bucketMask = 2 ** bucketShift - 1
/** Upper bound of the terms of a segment: the rest of a hash and a number are one number of 53 bits. */
const maxTerms = 2 ** 27
