import { DocumentSegment, type SegmentBytes } from '../segments/document-segment.ts'
import { type StoredFacts, storedFacts } from '../segments/schema.ts'
import { TermLists } from '../segments/term-lists.ts'
import type { LinkRun } from './page-links.ts'

/** Hashes in the signature of a page. */
const signatureLength = 32

/** A segment of pages: also with the words of each page, what is judged of it, and the hashes of its links. */
export class PageSegment extends DocumentSegment {
  readonly words: TermLists
  readonly wordLengths: Int32Array
  readonly links: LinkRun
  readonly #hosts: readonly string[]
  readonly #hostOf: Int32Array
  readonly #signatures: Uint32Array
  readonly #judged: Float64Array

  constructor(bytes: SegmentBytes) {
    super(bytes)
    const { columns } = this
    this.words = new TermLists(this.listColumns ?? columns, 'words')
    this.wordLengths = columns.integers('word lengths')
    this.links = { keys: columns.doubles('link keys'), from: columns.integers('link pages') }
    this.#hosts = columns.items('hosts')
    this.#hostOf = columns.integers('host of')
    this.#signatures = columns.words('signatures')
    this.#judged = columns.doubles('judged')
  }

  host(page: number): string {
    return this.#hosts[this.#hostOf[page] ?? 0] ?? ''
  }

  signature(page: number): Uint32Array {
    return this.#signatures.subarray(page * signatureLength, (page + 1) * signatureLength)
  }

  quality(page: number): number {
    return this.#judged[2 * page] ?? 0
  }

  spam(page: number): number {
    return this.#judged[2 * page + 1] ?? 0
  }

  facts(page: number): StoredFacts {
    return storedFacts(this.factsOf(page))
  }
}
