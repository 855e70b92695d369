import type { DocumentSegment } from './segments/document-segment.ts'

const none = -1
/** Maximum frequency of a term in a passage: the 8 bits below the slot. */
const maxTimes = 255

/**
 * The postings of a segment, which are read where they lie: nothing is done for each entry when the segment is loaded.
 * Its passages have slots one after the other. Those of removed passages are counted when a term is looked up.
 */
export class PostingBlock {
  readonly #segment: DocumentSegment
  readonly #first: number
  /** 1 for each passage that was removed or never added. */
  readonly #removed: Uint8Array
  #removedCount = 0
  /** Frequencies of terms without removed passages; those that were looked up since the last removal. */
  readonly #left = new Map<number, number>()

  /** @param first slot of its first passage. */
  constructor(segment: DocumentSegment, first: number) {
    this.#segment = segment
    this.#first = first
    this.#removed = new Uint8Array(segment.lengths.length)
  }

  get bytes(): number {
    return this.#segment.bytes + this.#removed.length
  }

  remove(passage: number): void {
    if (this.#removed[passage] === 1) return
    this.#removed[passage] = 1
    this.#removedCount++
    this.#left.clear()
  }

  /** Returns the place of a term; -1 when no passage has it. */
  placeOf(name: string): number {
    const place = this.#segment.terms.placeOf(name)
    return place !== none && this.frequency(place) > 0 ? place : none
  }

  frequency(place: number): number {
    const { counts, lists } = this.#segment.inverted
    if (this.#removedCount === 0) return counts[place] ?? 0
    const known = this.#left.get(place)
    if (known !== undefined) return known
    const end = lists.read(place)
    let count = 0
    for (let pair = 0; pair < end; pair += 2) count += 1 - (this.#removed[lists.pairs[pair] ?? 0] ?? 0)
    this.#left.set(place, count)
    return count
  }

  /** Writes the entries of a term, as in `Postings.read`, from `used` on. Returns their end. */
  read(place: number, into: Int32Array, used: number): number {
    const { lists } = this.#segment.inverted
    const end = lists.read(place)
    const { pairs } = lists
    const [removed, first] = [this.#removed, this.#first]
    let at = used
    for (let pair = 0; pair < end; pair += 2) {
      const passage = pairs[pair] ?? 0
      if (removed[passage] === 0) into[at++] = ((first + passage) << 8) | Math.min(pairs[pair + 1] ?? 0, maxTimes)
    }
    return at
  }

  /** Calls `visit` with every term of a passage, and its frequency; with none in a segment without these lists. */
  eachOf(passage: number, visit: (name: string, times: number) => void): void {
    const { lists, terms } = this.#segment
    const end = lists?.read(passage) ?? 0
    for (let at = 0; at < end; at += 2) visit(terms.nameOf(lists?.pairs[at] ?? 0), lists?.pairs[at + 1] ?? 0)
  }
}
