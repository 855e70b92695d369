import { grown, int32s } from './growing.ts'

/** Range of pool entries that belong to one passage. */
export interface PostingRange {
  readonly first: number
  readonly count: number
}

/**
 * Linked lists of entries, from the head of a term; -1 is the end. For entry `e`, `links[2 * e]` is the next entry and
 * `links[2 * e + 1]` is its slot times 256 plus the term's frequency in the passage, 0 for a dead entry. Both are in
 * one cache line of the processor.
 */
export interface PostingChains {
  readonly heads: Int32Array
  readonly links: Int32Array
}

const none = -1
/** Maximum frequency of a term in a passage: the 8 bits below the slot; there are up to eight million slots. */
export const maxTimes = 255

/**
 * Inverted index: linked lists of entries in one pool of typed arrays, with the newest entry of a term first. A removed
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

  get bytes(): number {
    return this.#used * 12 + this.#names.length * 96
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
    for (let entry = first; entry < first + count; entry++) {
      if (this.#times(entry) === 0) continue
      this.#links[2 * entry + 1] = 0
      this.#dead++
      this.#release(this.#termOf[entry] ?? none)
    }
  }

  /** Returns the number of a term; -1 when no passage has it. */
  termOf(name: string): number {
    return this.#terms.get(name) ?? none
  }

  /** Returns the number of passages that have the term. */
  frequency(term: number): number {
    return this.#frequencies[term] ?? 0
  }

  /** Calls `visit` with every passage that has the term, and its frequency there. */
  each(term: number, visit: (slot: number, times: number) => void): void {
    const links = this.#links
    for (let entry = this.#heads[term] ?? none; entry !== none; entry = links[2 * entry] ?? none) {
      const found = links[2 * entry + 1] ?? 0
      if ((found & maxTimes) > 0) visit(found >> 8, found & maxTimes)
    }
  }

  /** The raw arrays, for performance-critical loops; valid until the next change. */
  get chains(): PostingChains {
    return { heads: this.#heads, links: this.#links }
  }

  /** Calls `visit` with every term of a passage, and its frequency. */
  eachOf({ first, count }: PostingRange, visit: (term: number, times: number) => void): void {
    for (let entry = first; entry < first + count; entry++) {
      const times = this.#times(entry)
      if (times > 0) visit(this.#termOf[entry] ?? none, times)
    }
  }

  /** Returns a copy without dead entries; `moved` receives the new range of each passage. */
  compacted(ranges: Iterable<readonly [slot: number, PostingRange]>, moved: PostingMoves): Postings {
    const kept = new Postings()
    for (const [slot, { first, count }] of ranges) {
      const counts = new Map<string, number>()
      for (let entry = first; entry < first + count; entry++) {
        const name = this.#names[this.#termOf[entry] ?? none]
        if (typeof name === 'string') counts.set(name, this.#times(entry))
      }
      moved(slot, kept.add(slot, counts))
    }
    return kept
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

/** Receives the new range of a passage after a compaction. */
export type PostingMoves = (slot: number, range: PostingRange) => void
