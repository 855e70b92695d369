import { grown, int32s } from '../growing.ts'
import { ByteWriter } from './byte-writer.ts'
import type { Columns } from './columns.ts'
import type { Column } from './schema.ts'
import { numberOf, type TermDictionary } from './term-dictionary.ts'
import { TermLists } from './term-lists.ts'
import type { TermNumbers } from './term-numbers.ts'

/** Greatest number of times that is distinguished: the 8 bits below the number of the text. */
const maxTimes = 255
/** Number of entries after which long work yields. */
const slice = 2 ** 14

/** Collects the texts of each term, with how often they have it. Texts are added in the order of their numbers. */
export class InvertedWriter {
  readonly #numbers: TermNumbers
  #terms = int32s(0)
  #entries = int32s(0)
  #used = 0

  constructor(numbers: TermNumbers) {
    this.#numbers = numbers
  }

  add(text: number, counts: Iterable<readonly [term: string, times: number]>): void {
    for (const [term, times] of counts) this.#push(this.#numbers.of(term), text, times)
  }

  /**
   * Adds the texts of another segment; yields often.
   *
   * @param moved the number here of each of its texts, or -1.
   * @param known the number here of each of its terms, or -1; completed.
   */
  *copy({ terms, lists }: InvertedLists, moved: Int32Array, known: Int32Array): Generator<void, void, void> {
    let left = slice
    for (let place = 0; place < terms.size; place++) {
      const end = lists.read(place)
      const { pairs } = lists
      for (let at = 0; at < end; at += 2) {
        const text = moved[pairs[at] ?? 0] ?? -1
        if (text !== -1) this.#push(numberOf(place, { terms, known, numbers: this.#numbers }), text, pairs[at + 1] ?? 0)
      }
      left -= end + 4
      if (left > 0) continue
      left = slice
      yield
    }
  }

  /** Encodes the lists. @param places of `TermNumbers.ordered`. */
  *columns(name: string, places: Int32Array): Generator<void, Readonly<Record<string, Column>>, void> {
    const counts = int32s(places.length)
    for (let at = 0; at < this.#used; at++) {
      const place = places[this.#terms[at] ?? 0] ?? 0
      counts[place] = (counts[place] ?? 0) + 1
      if (at % slice === 0) yield
    }
    const ends = int32s(places.length + 1)
    for (let place = 0; place < counts.length; place++) ends[place + 1] = (ends[place] ?? 0) + (counts[place] ?? 0)
    const filled = ends.slice()
    const ordered = int32s(this.#used)
    for (let at = 0; at < this.#used; at++) {
      const place = places[this.#terms[at] ?? 0] ?? 0
      const entry = filled[place] ?? 0
      filled[place] = entry + 1
      ordered[entry] = this.#entries[at] ?? 0
      if (at % slice === 0) yield
    }
    const starts = int32s(places.length + 1)
    const bytes = new ByteWriter()
    for (let place = 0; place < places.length; place++) {
      let before = 0
      for (let entry = ends[place] ?? 0; entry < (ends[place + 1] ?? 0); entry++) {
        const text = (ordered[entry] ?? 0) >> 8
        before = bytes.pair(before, text, (ordered[entry] ?? 0) & maxTimes)
        if (entry % slice === 0) yield
      }
      starts[place + 1] = bytes.length
    }
    return { [`${name} starts`]: starts, [`${name} bytes`]: bytes.written(), [`${name} counts`]: counts }
  }

  #push(term: number, text: number, times: number): void {
    const at = this.#used++
    this.#terms = grown(this.#terms, this.#used, int32s)
    this.#entries = grown(this.#entries, this.#used, int32s)
    this.#terms[at] = term
    this.#entries[at] = (text << 8) | Math.min(times, maxTimes)
  }
}

/** The texts of each term of a segment, ascending, that an `InvertedWriter` encoded. */
export class InvertedLists {
  readonly terms: TermDictionary
  readonly lists: TermLists
  /** Number of the texts of each term. */
  readonly counts: Int32Array

  constructor(columns: Columns, name: string, terms: TermDictionary) {
    this.terms = terms
    this.lists = new TermLists(columns, name)
    this.counts = columns.integers(`${name} counts`)
  }
}
