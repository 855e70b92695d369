import { type Language, segmentLanguages } from '../analysis/languages.ts'
import { Columns, packed } from './columns.ts'
import { InvertedLists } from './inverted-lists.ts'
import { type Removals, removalsIn } from './schema.ts'
import { TermDictionary } from './term-dictionary.ts'
import { TermLists } from './term-lists.ts'
import { Texts } from './texts.ts'

/** The parts of a segment, which are stored and read separately. */
export const segmentParts = ['documents', 'passages', 'vectors', 'lists'] as const
export type SegmentPart = (typeof segmentParts)[number]

/** The bytes of a segment; a part that an index does not need is absent. */
export interface SegmentBytes extends Readonly<Record<'documents' | 'passages', Uint8Array>> {
  readonly vectors?: Uint8Array
  readonly lists?: Uint8Array
}

/** Reads a part of a segment; undefined if it has none. */
export type SegmentReader = (part: SegmentPart) => Promise<Uint8Array | undefined>

/** Reads a segment with all of its parts, or only those named. */
export const wholeSegment = async (
  read: SegmentReader,
  parts: readonly SegmentPart[] = segmentParts,
): Promise<SegmentBytes> => {
  const none = new Uint8Array(0)
  const [documents = none, passages = none] = [await read('documents'), await read('passages')]
  const vectors = parts.includes('vectors') ? await read('vectors') : undefined
  const lists = parts.includes('lists') ? await read('lists') : undefined
  return { documents, passages, ...(vectors && { vectors }), ...(lists && { lists }) }
}

/** Vectors of one length at one byte per dimension, one after the other; the unit of one that is absent is 0. */
export interface VectorRows {
  readonly dimensions: number
  readonly numbers: Int8Array
  readonly units: Float32Array
}

/** Which documents a segment has, and which it removes. */
export class SegmentIds {
  readonly ids: readonly string[]
  readonly versions: Float64Array
  readonly removals: Removals
  protected readonly columns: Columns

  constructor({ documents }: Pick<SegmentBytes, 'documents'>) {
    this.columns = new Columns(documents)
    this.ids = this.columns.items('ids')
    this.versions = this.columns.doubles('versions')
    this.removals = removalsIn(this.columns.text('removals'))
  }

  /** Returns bytes with nothing else of the segment. */
  alone(): Uint8Array {
    return packed({
      ...{ ids: this.columns.bytes('ids'), versions: this.versions },
      removals: this.columns.bytes('removals'),
    })
  }
}

/**
 * Documents as they were analysed by the process that changed them: the words and vectors of their passages, what an
 * index knows of each, and ids of documents that were removed. It contains no text but facts. It is written once, and
 * its numbers are read where they lie.
 */
export class DocumentSegment extends SegmentIds {
  /** Number of the first passage of each document, and at the end the number of all. */
  readonly starts: Int32Array
  readonly terms: TermDictionary
  /** Passages of each term. */
  readonly inverted: InvertedLists
  /** Documents of each term of their titles. */
  readonly titles: InvertedLists
  /** Terms of each passage; null in a segment without them. */
  readonly lists: TermLists | null
  /** Words of each passage. */
  readonly lengths: Int32Array
  /** Page of each passage, -1 for none; empty when no passage has one. */
  readonly pages: Int32Array
  /** Number of the vector of the lead of each passage's page, -1 for none; empty when no page has one. */
  readonly leadOf: Int32Array
  readonly bytes: number
  protected readonly listColumns: Columns | null
  readonly #languages: Uint8Array
  readonly #names: Texts
  readonly #facts: Texts
  readonly #passages: Columns
  readonly #vectors: Columns | null

  constructor({ documents, passages, vectors, lists }: SegmentBytes) {
    super({ documents })
    const { columns } = this
    const own = new Columns(passages)
    this.#passages = own
    this.listColumns = lists === undefined ? null : new Columns(lists)
    this.starts = columns.integers('starts')
    this.#facts = new Texts(columns, 'facts')
    this.terms = new TermDictionary(own)
    this.inverted = new InvertedLists(own, 'inverted', this.terms)
    this.titles = new InvertedLists(own, 'titles', this.terms)
    this.lists = this.listColumns === null ? null : new TermLists(this.listColumns, 'terms')
    this.lengths = own.integers('lengths')
    this.pages = own.integers('pages')
    this.leadOf = own.integers('lead of')
    this.#languages = own.bytes('languages')
    this.#names = new Texts(own, 'names')
    this.#vectors = vectors === undefined ? null : new Columns(vectors)
    this.bytes = [columns, own, this.listColumns, this.#vectors].reduce((sum, each) => sum + (each?.size ?? 0), 0)
  }

  /** What is kept of a document besides its words, as JSON. */
  factsOf(document: number): string {
    return this.#facts.at(document)
  }

  language(passage: number): Language | null {
    return segmentLanguages[(this.#languages[passage] ?? 0) - 1] ?? null
  }

  /** Returns the document of a passage. */
  documentOf(passage: number): number {
    let [low, high] = [0, this.ids.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.starts[middle + 1] ?? 0) <= passage) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns the id of a passage: that of its document and its order. */
  passageId(passage: number): string {
    const document = this.documentOf(passage)
    return `${this.ids[document] ?? ''} ${passage - (this.starts[document] ?? 0)}`
  }

  /** Returns what its writer calls a passage; null where passages have no names. */
  nameOf(passage: number): string | null {
    return this.#names.size > 0 ? this.#names.at(passage) : null
  }

  get vectors(): VectorRows | null {
    return rowsIn(this.#vectors, 'vectors')
  }

  get leads(): VectorRows | null {
    return rowsIn(this.#passages, 'leads')
  }
}

const rowsIn = (columns: Columns | null, name: string): VectorRows | null => {
  const units = columns?.floats(`${name} units`)
  if (columns === null || units === undefined || units.length === 0) return null
  const numbers = columns.signed(name)
  return { numbers, units, dimensions: numbers.length / units.length }
}
