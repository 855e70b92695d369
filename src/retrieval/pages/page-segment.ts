import type { Language } from '../analysis/languages.ts'
import { Columns } from '../segments/columns.ts'
import { type Removals, removalsIn, type StoredFacts, storedFacts } from '../segments/schema.ts'
import { SegmentTerms } from '../segments/segment-terms.ts'
import { TermLists } from '../segments/term-lists.ts'
import type { ShortVector } from '../vector-table.ts'
import type { LinkRun } from './page-links.ts'

/** Languages as a segment numbers them, from 1; 0 is none. Only ever appended to. */
export const segmentLanguages: readonly Language[] = ['en', 'es', 'pt', 'fr', 'it', 'de', 'nl', 'tr', 'ru', 'ar', 'hi']

/** Hashes in the signature of a page. */
const signatureLength = 32

/** The bytes of a segment: what an index keeps, and what it reads once. */
export interface SegmentBytes {
  readonly pages: Uint8Array
  readonly passages: Uint8Array
}

/** Passages of a segment. */
export interface SegmentPassages {
  readonly terms: SegmentTerms
  readonly lengths: Int32Array
  language(passage: number): Language | null
  vector(passage: number): ShortVector | null
}

/**
 * Pages as they were analysed by the process that changed them: the words of each and of its passages, vectors at one
 * byte per dimension, the hashes of the addresses that they link to, and ids of pages that were removed. It contains no
 * text but the titles. It is written once, and its numbers are read where they lie.
 */
export class PageSegment {
  readonly ids: readonly string[]
  readonly versions: Float64Array
  /** Terms of all lists. */
  readonly terms: readonly string[]
  readonly words: TermLists
  readonly wordLengths: Int32Array
  /** Number of the first passage of each page, and at the end the number of all. */
  readonly starts: Int32Array
  readonly removals: Removals
  readonly links: LinkRun
  readonly #columns: Columns
  readonly #hosts: readonly string[]
  readonly #hostOf: Int32Array
  readonly #signatures: Uint32Array
  readonly #judged: Float64Array
  readonly #factStarts: Int32Array
  readonly #facts: Uint8Array

  constructor(bytes: Uint8Array) {
    const columns = new Columns(bytes)
    this.#columns = columns
    this.ids = columns.items('ids')
    this.versions = columns.doubles('versions')
    this.terms = columns.items('terms')
    this.words = new TermLists(columns, 'words', this.terms)
    this.wordLengths = columns.integers('word lengths')
    this.starts = columns.integers('starts')
    this.removals = removalsIn(columns.text('removals'))
    this.links = { keys: columns.doubles('link keys'), from: columns.integers('link pages') }
    this.#hosts = columns.items('hosts')
    this.#hostOf = columns.integers('host of')
    this.#signatures = columns.words('signatures')
    this.#judged = columns.doubles('judged')
    this.#factStarts = columns.integers('fact starts')
    this.#facts = columns.bytes('facts')
  }

  get bytes(): number {
    return this.#columns.size
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
    return storedFacts(Buffer.from(this.factBytes(page)).toString())
  }

  factBytes(page: number): Uint8Array {
    return this.#facts.subarray(this.#factStarts[page] ?? 0, this.#factStarts[page + 1] ?? 0)
  }

  /** Returns the passages in the other bytes of the segment. */
  passagesIn(bytes: Uint8Array): SegmentPassages {
    const columns = new Columns(bytes)
    const languages = columns.bytes('languages')
    const [numbers, units] = [columns.signed('vectors'), columns.floats('units')]
    const vectorStarts = columns.integers('vector starts')
    return {
      terms: new SegmentTerms(columns, this.terms),
      lengths: columns.integers('lengths'),
      language: (passage) => segmentLanguages[(languages[passage] ?? 0) - 1] ?? null,
      vector: (passage) => {
        const unit = units[passage] ?? 0
        if (unit === 0) return null
        return { numbers: numbers.subarray(vectorStarts[passage] ?? 0, vectorStarts[passage + 1] ?? 0), unit }
      },
    }
  }
}
