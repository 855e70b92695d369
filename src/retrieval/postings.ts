import { grown, int32s } from './growing.ts'
import type { PostingBlock } from './posting-block.ts'

/** Range of pool entries that belong to one passage. */
export interface PostingRange {
  readonly first: number
  readonly count: number
}

/** Entries of a term: slot times 256 plus frequency. Valid until the next are read. */
export interface PostingEntries {
  readonly entries: Int32Array
  readonly count: number
}

const none = -1
/** Maximum frequency of a term in a passage: the 8 bits below the slot; there are up to eight million slots. */
export const maxTimes = 255

/**
 * Inverted index: linked lists of entries in one pool of typed arrays, with the newest entry of a term first, and the
 * blocks of segments. For entry `e`, `links[2 * e]` is the next entry, -1 at the end, and `links[2 * e + 1]` is its
 * slot times 256 plus the term's frequency in the passage, so that both are in one cache line of the processor. A removed
 * entry has frequency 0; once more than half of the entries are dead, the index should be compacted.
 */
export class Postings {
  #terms = new Map<string, number>()
  #names: (string | null)[] = []
  #heads = int32s(0)
  #frequencies = int32s(0)
  #links = int32s(0)
  #termOf = int32s(0)
  #used = 0
  #dead = 0
  readonly #blocks: PostingBlock[] = []
  /** Places of looked-up terms in the blocks. */
  readonly #places = new Map<number, readonly number[]>()
  #entries = int32s(0)

  get bytes(): number {
    const blocks = this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0)
    const places = this.#places.size * (64 + 8 * this.#blocks.length)
    return this.#used * 12 + this.#names.length * 96 + places + blocks
  }

  /** Adds a block, whose passages are added by `setRange` of `rangeIn`. Returns its number. */
  attach(block: PostingBlock): number {
    this.#places.clear()
    return this.#blocks.push(block) - 1
  }

  /** Whether more than half of the entries are dead, so that `compacted` pays off. */
  get wasteful(): boolean {
    return this.#dead > 4096 && this.#dead * 2 > this.#used
  }

  /** Adds the terms of one passage with their frequencies. */
  add(slot: number, counts: ReadonlyMap<string, number>): PostingRange {
    const first = this.#used
    this.#reserve(first + counts.size)
    for (const [term, times] of counts) this.#append(this.#intern(term), slot, times)
    return { first, count: counts.size }
  }

  remove({ first, count }: PostingRange): void {
    if (count < 0) this.#blocks[blockOf(count)]?.remove(first)
    for (let entry = first; entry < first + count; entry++) {
      if (this.#times(entry) === 0) continue
      this.#links[2 * entry + 1] = 0
      this.#dead++
      this.#release(this.#termOf[entry] ?? none)
    }
  }

  /** Returns the number of a term; -1 when no passage has it. */
  termOf(name: string): number {
    const own = this.#terms.get(name) ?? none
    if (this.#blocks.length === 0) return own
    const isKnown = own !== none || this.#blocks.some((block) => block.placeOf(name) !== none)
    const term = isKnown ? this.#intern(name) : none
    return this.frequency(term) > 0 ? term : none
  }

  nameOf(term: number): string {
    return this.#names[term] ?? ''
  }

  /** Returns the number of passages that have the term. */
  frequency(term: number): number {
    let sum = this.#frequencies[term] ?? 0
    for (const [at, place] of this.#placesOf(term).entries()) sum += this.#blocks[at]?.frequency(place) ?? 0
    return sum
  }

  /** Returns every passage that has the term, and its frequency there. */
  read(term: number): PostingEntries {
    const entries = grown(this.#entries, this.frequency(term), int32s)
    this.#entries = entries
    const links = this.#links
    let count = 0
    for (let entry = this.#heads[term] ?? none; entry !== none; entry = links[2 * entry] ?? none) {
      const found = links[2 * entry + 1] ?? 0
      if ((found & maxTimes) > 0) entries[count++] = found
    }
    for (const [at, place] of this.#placesOf(term).entries())
      if (place !== none) count = this.#blocks[at]?.read(place, entries, count) ?? count
    return { entries, count }
  }

  /** Calls `visit` with every passage that has the term, and its frequency there. */
  each(term: number, visit: (slot: number, times: number) => void): void {
    const { entries, count } = this.read(term)
    for (let at = 0; at < count; at++) visit((entries[at] ?? 0) >> 8, (entries[at] ?? 0) & maxTimes)
  }

  /** Calls `visit` with every term of a passage, and its frequency. */
  eachOf({ first, count }: PostingRange, visit: (term: number, times: number) => void): void {
    if (count < 0) this.#blocks[blockOf(count)]?.eachOf(first, (name, times) => visit(this.#intern(name), times))
    for (let entry = first; entry < first + count; entry++) {
      const times = this.#times(entry)
      if (times > 0) visit(this.#termOf[entry] ?? none, times)
    }
  }

  /** Removes dead entries; `moved` receives the new range of each passage. */
  compact(ranges: Iterable<readonly [slot: number, PostingRange]>, moved: PostingMoves): void {
    const [links, termOf] = [this.#links, this.#termOf]
    this.#links = int32s(2 * (this.#used - this.#dead))
    this.#termOf = int32s(this.#used - this.#dead)
    this.#heads.fill(none)
    this.#frequencies.fill(0)
    this.#used = 0
    this.#dead = 0
    for (const [slot, { first, count }] of ranges) {
      if (count < 0) continue
      const from = this.#used
      for (let entry = first; entry < first + count; entry++) {
        const times = (links[2 * entry + 1] ?? 0) & maxTimes
        if (times > 0) this.#append(termOf[entry] ?? none, slot, times)
      }
      moved(slot, { first: from, count })
    }
  }

  /** Returns the place of a term in each block; none for a term that is only in the pool. */
  #placesOf(term: number): readonly number[] {
    const name = this.#names[term]
    if (this.#blocks.length === 0 || typeof name !== 'string') return noPlaces
    const known = this.#places.get(term)
    if (known !== undefined) return known
    const places = this.#blocks.map((block) => block.placeOf(name))
    this.#places.set(term, places)
    return places
  }

  #append(term: number, slot: number, times: number): void {
    const entry = this.#used++
    this.#links[2 * entry] = this.#heads[term] ?? none
    this.#links[2 * entry + 1] = (slot << 8) | Math.min(times, maxTimes)
    this.#heads[term] = entry
    this.#termOf[entry] = term
    this.#frequencies[term] = (this.#frequencies[term] ?? 0) + 1
  }

  #intern(name: string): number {
    const known = this.#terms.get(name)
    if (known !== undefined) return known
    const term = this.#names.push(name) - 1
    this.#terms.set(name, term)
    this.#heads = grown(this.#heads, term + 1, int32s)
    this.#frequencies = grown(this.#frequencies, term + 1, int32s)
    this.#heads[term] = none
    this.#frequencies[term] = 0
    return term
  }

  /** Decrements the frequency of a term, and removes the name of a term that no passage has any more. */
  #release(term: number): void {
    const left = (this.#frequencies[term] ?? 0) - 1
    this.#frequencies[term] = left
    const name = this.#names[term]
    if (left > 0 || typeof name !== 'string') return
    this.#terms.delete(name)
    this.#names[term] = null
  }

  #reserve(length: number): void {
    this.#links = grown(this.#links, 2 * length, int32s)
    this.#termOf = grown(this.#termOf, length, int32s)
  }

  #times(entry: number): number {
    return (this.#links[2 * entry + 1] ?? 0) & maxTimes
  }
}

const noPlaces: readonly number[] = []

/** Returns the range of a passage of a block. */
export const rangeIn = (block: number, passage: number): PostingRange => ({ first: passage, count: -1 - block })
const blockOf = (count: number): number => -1 - count

/** Receives the new range of a passage after a compaction. */
export type PostingMoves = (slot: number, range: PostingRange) => void
