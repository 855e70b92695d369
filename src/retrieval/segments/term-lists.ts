import { grown, int32s } from '../growing.ts'
import { ByteWriter } from './byte-writer.ts'
import type { Columns } from './columns.ts'
import type { Column } from './schema.ts'
import { numberOf, type TermDictionary } from './term-dictionary.ts'
import type { TermNumbers } from './term-numbers.ts'

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
  copy(lists: TermLists, list: number, { terms, known }: CopiedTerms): void {
    const end = lists.read(list)
    const { pairs } = lists
    for (let at = 0; at < end; at += 2)
      this.#push(numberOf(pairs[at] ?? 0, { terms, known, numbers: this.#numbers }), pairs[at + 1] ?? 0)
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

  #push(term: number, times: number): void {
    this.#pairs = grown(this.#pairs, this.#used + 2, int32s)
    this.#pairs[this.#used++] = term
    this.#pairs[this.#used++] = times
  }
}

/** Terms of another segment, and the number here of each, or -1. */
export interface CopiedTerms {
  readonly terms: TermDictionary
  readonly known: Int32Array
}

/** Lists of numbers with how often each occurs, as a `TermListsWriter` or an `InvertedWriter` encoded them. */
export class TermLists {
  readonly #starts: Int32Array
  readonly #bytes: Uint8Array
  /** The numbers and their numbers of times of the list that was read last, one after the other. */
  pairs = int32s(0)

  constructor(columns: Columns, name: string) {
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

  /** Returns the terms of a list, with how often each is in it. */
  countsOf(list: number, terms: TermDictionary): readonly (readonly [term: string, times: number])[] {
    const end = this.read(list)
    return Array.from({ length: end / 2 }, (_, at) => [
      terms.nameOf(this.pairs[2 * at] ?? 0),
      this.pairs[2 * at + 1] ?? 0,
    ])
  }

  /** Returns how often a number is in a list. */
  times(list: number, number: number): number {
    if (number === -1) return 0
    const end = this.read(list)
    for (let at = 0; at < end; at += 2) if (this.pairs[at] === number) return this.pairs[at + 1] ?? 0
    return 0
  }
}
