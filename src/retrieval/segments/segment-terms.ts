import type { Columns } from './columns.ts'
import { placeOf, TermLists } from './term-lists.ts'

/** Terms of the passages of a segment, by passage, and in a large segment the passages of each term. */
export class SegmentTerms {
  readonly names: readonly string[]
  /** Terms of each passage. */
  readonly lists: TermLists
  /** Passages of each term; empty in a small segment. */
  readonly inverted: TermLists
  /** Number of the passages of each term. */
  readonly counts: Int32Array
  readonly bytes: number

  constructor(columns: Columns, names: readonly string[]) {
    this.names = names
    this.lists = new TermLists(columns, 'terms', names)
    this.inverted = new TermLists(columns, 'inverted', [])
    this.counts = columns.integers('counts')
    this.bytes = columns.size
  }

  /** Whether it has the passages of each term. */
  get isInverted(): boolean {
    return this.counts.length > 0
  }

  placeOf(name: string): number {
    return placeOf(this.names, name)
  }

  /** Calls `visit` with every term of a passage, and its frequency. */
  eachOf(passage: number, visit: (place: number, times: number) => void): void {
    const end = this.lists.read(passage)
    const { pairs } = this.lists
    for (let at = 0; at < end; at += 2) visit(pairs[at] ?? 0, pairs[at + 1] ?? 0)
  }
}
