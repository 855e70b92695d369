import { grown, int32s, uint8s } from '../growing.ts'
import type { Columns } from './columns.ts'
import { hash32 } from './hash.ts'
import type { Column } from './schema.ts'

/** Numbers each term of a segment. */
export class TermNumbers {
  readonly #numbers = new Map<string, number>()

  of(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    this.#numbers.set(term, this.#numbers.size)
    return this.#numbers.size - 1
  }

  /** Returns all terms in the order of their hashes, and the place of each number among them. */
  *ordered(): Generator<void, OrderedTerms, void> {
    const buckets: number[][] = Array.from({ length: bucketCount }, () => [])
    const all = [...this.#numbers.keys()]
    for (const [number, term] of all.entries()) {
      const hash = hash32(term)
      buckets[hash >>> bucketShift]?.push((hash & bucketMask) * maxTerms + number)
      if (number % 8_192 === 0) yield
    }
    const [terms, places]: [string[], Int32Array] = [[], int32s(all.length)]
    for (const bucket of buckets) {
      for (const key of Float64Array.from(bucket).sort()) {
        const number = key % maxTerms
        places[number] = terms.push(all[number] ?? '') - 1
      }
      yield
    }
    return { terms, places }
  }
}

interface OrderedTerms {
  readonly terms: readonly string[]
  readonly places: Int32Array
}

/** Terms are ordered in parts, by the upper bits of their hashes: ordering all at once would hold the event loop. */
const bucketCount = 64
const bucketShift = 26
const bucketMask = 2 ** bucketShift - 1
/** Upper bound of the terms of a segment: the rest of a hash and a number are one number of 53 bits. */
const maxTerms = 2 ** 27

/** Greatest number of times that is distinguished. */
const maxTimes = 65_535

/**
 * Collects lists of terms with how often each occurs. Encoded, a list is ascending: of each term the distance to the one
 * before and whether it occurs more than once, and then how often, in bytes of seven bits.
 */
export class TermListsWriter {
  readonly #numbers: TermNumbers
  #pairs = int32s(0)
  #used = 0
  readonly #starts: number[] = [0]

  constructor(numbers: TermNumbers) {
    this.#numbers = numbers
  }

  add(counts: Iterable<readonly [term: string, times: number]>): void {
    for (const [term, times] of counts) this.#push(this.#numbers.of(term), times)
    this.#starts.push(this.#used)
  }

  /** Adds a list of another segment. `known` has this segment's number of each of its terms, or -1, and is completed. */
  copy(lists: TermLists, list: number, known: Int32Array): void {
    const end = lists.read(list)
    const { pairs } = lists
    for (let at = 0; at < end; at += 2) {
      const term = pairs[at] ?? 0
      let number = known[term] ?? -1
      if (number === -1) {
        number = this.#numbers.of(lists.terms[term] ?? '')
        known[term] = number
      }
      this.#push(number, pairs[at + 1] ?? 0)
    }
    this.#starts.push(this.#used)
  }

  /** Encodes all lists; yields after each few. @param places of `TermNumbers.ordered`. */
  *columns(name: string, places: Int32Array): Generator<void, Readonly<Record<string, Column>>, void> {
    const starts = int32s(this.#starts.length)
    const bytes = new ByteWriter()
    for (let list = 0; list + 1 < this.#starts.length; list++) {
      this.#encode(bytes, places, [this.#starts[list] ?? 0, this.#starts[list + 1] ?? 0])
      starts[list + 1] = bytes.length
      if (list % 64 === 0) yield
    }
    return { [`${name} starts`]: starts, [`${name} bytes`]: bytes.written() }
  }

  #encode(bytes: ByteWriter, places: Int32Array, [from, to]: readonly [number, number]): void {
    // the place and the times of a term in one number, which sorts faster
    const sorted = new Float64Array((to - from) / 2)
    for (let at = from; at < to; at += 2)
      sorted[(at - from) / 2] =
        (places[this.#pairs[at] ?? 0] ?? 0) * (maxTimes + 1) + Math.min(this.#pairs[at + 1] ?? 0, maxTimes)
    sorted.sort()
    let before = 0
    for (const pair of sorted) before = bytes.pair(before, Math.floor(pair / (maxTimes + 1)), pair % (maxTimes + 1))
  }

  /** Encodes the lists that each term is in, ascending, with how often; yields after each few. */
  *inverted(places: Int32Array): Generator<void, Readonly<Record<string, Column>>, void> {
    const counts = int32s(places.length)
    for (let at = 0; at < this.#used; at += 2) {
      const place = places[this.#pairs[at] ?? 0] ?? 0
      counts[place] = (counts[place] ?? 0) + 1
      if (at % slice === 0) yield
    }
    const ends = int32s(places.length + 1)
    for (const [place, count] of counts.entries()) ends[place + 1] = (ends[place] ?? 0) + count
    const filled = ends.slice()
    const [lists, times] = [int32s(this.#used / 2), int32s(this.#used / 2)]
    for (let list = 0; list + 1 < this.#starts.length; list++) {
      for (let at = this.#starts[list] ?? 0; at < (this.#starts[list + 1] ?? 0); at += 2) {
        const place = places[this.#pairs[at] ?? 0] ?? 0
        const entry = filled[place] ?? 0
        filled[place] = entry + 1
        lists[entry] = list
        times[entry] = this.#pairs[at + 1] ?? 0
      }
      if (list % 256 === 0) yield
    }
    const starts = int32s(places.length + 1)
    const bytes = new ByteWriter()
    for (let place = 0; place < places.length; place++) {
      let before = 0
      for (let entry = ends[place] ?? 0; entry < (ends[place + 1] ?? 0); entry++) {
        before = bytes.pair(before, lists[entry] ?? 0, times[entry] ?? 0)
        if (entry % slice === 0) yield
      }
      starts[place + 1] = bytes.length
    }
    return { 'inverted starts': starts, 'inverted bytes': bytes.written(), counts }
  }

  #push(term: number, times: number): void {
    this.#pairs = grown(this.#pairs, this.#used + 2, int32s)
    this.#pairs[this.#used++] = term
    this.#pairs[this.#used++] = times
  }
}

/** Number of entries after which long work yields. */
const slice = 2 ** 14

class ByteWriter {
  #bytes = uint8s(0)
  length = 0

  /** Writes the distance of a number to the one before, and how often it occurs. Returns the number. */
  pair(before: number, number: number, times: number): number {
    this.number((number - before) * 2 + Number(times > 1))
    if (times > 1) this.number(times)
    return number
  }

  number(value: number): void {
    this.#bytes = grown(this.#bytes, this.length + 5, uint8s)
    let left = value
    while (left > 127) {
      this.#bytes[this.length++] = (left & 127) | 128
      left >>>= 7
    }
    this.#bytes[this.length++] = left
  }

  written(): Uint8Array {
    return this.#bytes.slice(0, this.length)
  }
}

/** Lists that a `TermListsWriter` encoded. */
export class TermLists {
  readonly terms: readonly string[]
  readonly #starts: Int32Array
  readonly #bytes: Uint8Array
  /** The terms and their numbers of times of the list that was read last, one after the other. */
  pairs = int32s(0)

  constructor(columns: Columns, name: string, terms: readonly string[]) {
    this.terms = terms
    this.#starts = columns.integers(`${name} starts`)
    this.#bytes = columns.bytes(`${name} bytes`)
  }

  /** Reads a list into `pairs`. Returns the end of what it wrote there. */
  read(list: number): number {
    const bytes = this.#bytes
    const end = this.#starts[list + 1] ?? 0
    let from = this.#starts[list] ?? 0
    const pairs = grown(this.pairs, 2 * (end - from), int32s)
    this.pairs = pairs
    let [used, term] = [0, 0]
    while (from < end) {
      let byte = bytes[from++] ?? 0
      let gap = byte & 127
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[from++] ?? 0
        gap |= (byte & 127) << shift
      }
      term += gap >>> 1
      let times = 1
      if ((gap & 1) === 1) {
        byte = bytes[from++] ?? 0
        times = byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = bytes[from++] ?? 0
          times |= (byte & 127) << shift
        }
      }
      pairs[used++] = term
      pairs[used++] = times
    }
    return used
  }

  /** Returns how often a term is in a list. */
  times(list: number, name: string): number {
    const term = placeOf(this.terms, name)
    if (term === -1) return 0
    const end = this.read(list)
    for (let at = 0; at < end; at += 2) if (this.pairs[at] === term) return this.pairs[at + 1] ?? 0
    return 0
  }
}

/** Returns the place of a term among those of a segment; -1 when it does not have it. */
export const placeOf = (terms: readonly string[], name: string): number => {
  const hash = hash32(name)
  let [low, high] = [0, terms.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (hash32(terms[middle] ?? '') < hash) low = middle + 1
    else high = middle
  }
  for (; low < terms.length && hash32(terms[low] ?? '') === hash; low++) if (terms[low] === name) return low
  return -1
}
