import type { SegmentTerms } from './segments/segment-terms.ts'

const none = -1
/** Maximum frequency of a term in a passage: the 8 bits below the slot. */
const maxTimes = 255

/**
 * The postings of a large segment, which are read where they lie: nothing is done for each entry when the segment is
 * loaded. Of removed passages only the frequencies of their terms are subtracted.
 */
export class PostingBlock {
  readonly #terms: SegmentTerms
  /** Slot of each passage; -1 for one that was removed or never added. */
  readonly #slots: Int32Array
  readonly #removed = new Map<number, number>()

  constructor(terms: SegmentTerms, passages: number) {
    this.#terms = terms
    this.#slots = new Int32Array(passages).fill(none)
  }

  get bytes(): number {
    return this.#terms.bytes + this.#slots.length * 4
  }

  set(passage: number, slot: number): void {
    this.#slots[passage] = slot
  }

  /** Removes a passage, or notes that it was not added. */
  remove(passage: number): void {
    this.#slots[passage] = none
    this.#terms.eachOf(passage, (place) => this.#removed.set(place, (this.#removed.get(place) ?? 0) + 1))
  }

  /** Returns the place of a term; -1 when no passage has it. */
  placeOf(name: string): number {
    const place = this.#terms.placeOf(name)
    return place !== none && this.frequency(place) > 0 ? place : none
  }

  frequency(place: number): number {
    return (this.#terms.counts[place] ?? 0) - (this.#removed.get(place) ?? 0)
  }

  /** Writes the entries of a term, as in `Postings.read`, from `used` on. Returns their end. */
  read(place: number, into: Int32Array, used: number): number {
    const { inverted } = this.#terms
    const end = inverted.read(place)
    const { pairs } = inverted
    let at = used
    for (let pair = 0; pair < end; pair += 2) {
      const slot = this.#slots[pairs[pair] ?? 0] ?? none
      if (slot !== none) into[at++] = (slot << 8) | Math.min(pairs[pair + 1] ?? 0, maxTimes)
    }
    return at
  }

  /** Calls `visit` with every term of a passage, and its frequency. */
  eachOf(passage: number, visit: (name: string, times: number) => void): void {
    this.#terms.eachOf(passage, (place, times) => visit(this.#terms.names[place] ?? '', times))
  }
}
