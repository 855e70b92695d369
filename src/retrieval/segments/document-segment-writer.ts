import { type Language, segmentLanguages } from '../analysis/languages.ts'
import { type ShortVector, shortVectorOf } from '../vector-table.ts'
import { packed, textColumn } from './columns.ts'
import type { DocumentSegment, SegmentBytes, VectorRows } from './document-segment.ts'
import { InvertedWriter } from './inverted-lists.ts'
import type { Column, Removals } from './schema.ts'
import { dictionaryColumns } from './term-dictionary.ts'
import { TermListsWriter } from './term-lists.ts'
import { TermNumbers } from './term-numbers.ts'
import { textColumns } from './texts.ts'

/** A document, before its passages. */
export interface NewDocument {
  readonly id: string
  readonly version: number
  /** As JSON. */
  readonly facts: string
  /** Terms of its title; absent: it is not found by one. */
  readonly title?: ReadonlySet<string>
}

/** An analysed passage. */
export interface NewPassage {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
  readonly language: Language | null
  readonly vector: Float32Array | null
  /** What its writer calls it. */
  readonly name?: string
  readonly page?: number | null
  /** Vector of the lead of its page, for the first passage of a page. */
  readonly lead?: Float32Array | null
}

/** Columns in addition to those of documents. */
export interface MoreColumns {
  readonly documents: Readonly<Record<string, Column>>
  readonly lists: Readonly<Record<string, Column>>
}

/** What `finished` adds to a segment. @param places of `TermNumbers.ordered`. */
export type ColumnsOf = (places: Int32Array) => Generator<void, MoreColumns, void>

// biome-ignore lint/correctness/useYield: nothing to add
const noColumns: ColumnsOf = function* () {
  return { documents: {}, lists: {} }
}

/** What `copy` has copied, for the columns of the caller. */
export interface Copied {
  readonly known: Int32Array
  /** Number here of each document, or -1. */
  readonly documents: Int32Array
}

/** Collects vectors of one length. */
class RowsWriter {
  readonly #units: number[] = []
  readonly #rows: (Int8Array | null)[] = []
  dimensions = 0

  get size(): number {
    return this.#units.length
  }

  add(vector: ShortVector | null): void {
    if (vector !== null && this.dimensions === 0) this.dimensions = vector.numbers.length
    const isKept = vector !== null && vector.numbers.length === this.dimensions
    this.#units.push(isKept ? vector.unit : 0)
    this.#rows.push(isKept ? vector.numbers : null)
  }

  copy(rows: VectorRows | null, row: number): void {
    const unit = rows?.units[row] ?? 0
    this.add(rows === null || unit === 0 ? null : { numbers: rowOf(rows, row), unit })
  }

  *columns(name: string): Generator<void, Readonly<Record<string, Column>>, void> {
    if (this.dimensions === 0) return {}
    const numbers = new Int8Array(this.#rows.length * this.dimensions)
    for (const [at, row] of this.#rows.entries()) {
      if (row !== null) numbers.set(row, at * this.dimensions)
      if (at % 1_024 === 0) yield
    }
    return { [name]: numbers, [`${name} units`]: Float32Array.from(this.#units) }
  }
}

const rowOf = ({ numbers, dimensions }: VectorRows, row: number): Int8Array =>
  numbers.subarray(row * dimensions, (row + 1) * dimensions)

const shortOf = (vector: Float32Array | null): ShortVector | null => (vector === null ? null : shortVectorOf(vector))

/** Makes segments: of documents, and of those of other segments. */
export class DocumentSegmentWriter {
  readonly numbers = new TermNumbers()
  readonly removals: [id: string, at: number][] = []
  /** Number of passages by their language. */
  readonly languages: Partial<Record<Language, number>> = {}
  readonly #inverted = new InvertedWriter(this.numbers)
  readonly #titles = new InvertedWriter(this.numbers)
  readonly #lists: TermListsWriter | null
  readonly #ids: string[] = []
  readonly #versions: number[] = []
  readonly #facts: string[] = []
  readonly #starts: number[] = [0]
  readonly #lengths: number[] = []
  readonly #languages: number[] = []
  readonly #names: string[] = []
  readonly #pages: number[] = []
  readonly #leadOf: number[] = []
  readonly #vectors = new RowsWriter()
  readonly #leads = new RowsWriter()
  #hasPages = false

  /** @param hasLists whether the segment has the terms of each passage. */
  constructor(hasLists: boolean) {
    this.#lists = hasLists ? new TermListsWriter(this.numbers) : null
  }

  /** Number of documents. */
  get documents(): number {
    return this.#ids.length
  }

  /** Number of passages. */
  get passages(): number {
    return this.#lengths.length
  }

  /** Length of its vectors; 0 without any. */
  get dimensions(): number {
    return this.#vectors.dimensions
  }

  /** Adds a document, and then its passages. */
  begin({ id, version, facts, title }: NewDocument): void {
    if (title !== undefined)
      this.#titles.add(
        this.documents,
        [...title].map((term) => [term, 1]),
      )
    this.#begin(id, version, facts)
  }

  #begin(id: string, version: number, facts: string): void {
    this.#ids.push(id)
    this.#versions.push(version)
    this.#facts.push(facts)
    this.#starts.push(this.passages)
  }

  /** Adds a passage of the document that was begun last. */
  add({ counts, length, language, vector, name, page = null, lead = null }: NewPassage): void {
    const leadOf = this.#leadAt(page, lead)
    this.#inverted.add(this.passages, counts)
    this.#lists?.add(counts)
    if (name !== undefined) this.#names.push(name)
    this.#describe({ length, language, page: page ?? -1, leadOf })
    this.#vectors.add(shortOf(vector))
  }

  /** Passages of a page follow one another, the first with the lead. */
  #leadAt(page: number | null, lead: Float32Array | null): number {
    if (lead !== null) {
      this.#leads.add(shortOf(lead))
      return this.#leads.size - 1
    }
    const isFirst = this.passages === (this.#starts.at(-2) ?? 0)
    return page !== null && !isFirst && this.#pages.at(-1) === page ? (this.#leadOf.at(-1) ?? -1) : -1
  }

  #describe({
    length,
    language,
    page,
    leadOf,
  }: {
    length: number
    language: Language | null
    page: number
    leadOf: number
  }): void {
    this.#lengths.push(length)
    this.#languages.push(language === null ? 0 : segmentLanguages.indexOf(language) + 1)
    if (language !== null) this.languages[language] = (this.languages[language] ?? 0) + 1
    this.#pages.push(page)
    this.#hasPages ||= page !== -1
    this.#leadOf.push(leadOf)
    this.#starts[this.#starts.length - 1] = this.#lengths.length
  }

  /** Adds one document of a segment that has the terms of each passage, without names, pages and leads. */
  take(segment: DocumentSegment, document: number): void {
    const { ids, versions, starts, lists, terms, lengths, vectors } = segment
    this.#begin(ids[document] ?? '', versions[document] ?? 0, segment.factsOf(document))
    for (let passage = starts[document] ?? 0; passage < (starts[document + 1] ?? 0); passage++) {
      const counts = lists?.countsOf(passage, terms) ?? []
      this.#inverted.add(this.passages, counts)
      this.#lists?.add(counts)
      this.#describe({ length: lengths[passage] ?? 0, language: segment.language(passage), page: -1, leadOf: -1 })
      this.#vectors.copy(vectors, passage)
    }
  }

  /** Adds the documents of a segment that are still to be found; yields often. */
  *copy(segment: DocumentSegment, isKept: (document: number) => boolean): Generator<void, Copied, void> {
    const { terms, vectors, leads, lists } = segment
    const known = new Int32Array(terms.size).fill(-1)
    const documents = new Int32Array(segment.ids.length).fill(-1)
    const passages = new Int32Array(segment.lengths.length).fill(-1)
    const moved = new Map<number, number>()
    for (const [document, id] of segment.ids.entries()) {
      if (!isKept(document)) continue
      documents[document] = this.documents
      this.#begin(id, segment.versions[document] ?? 0, segment.factsOf(document))
      for (let passage = segment.starts[document] ?? 0; passage < (segment.starts[document + 1] ?? 0); passage++) {
        passages[passage] = this.passages
        const name = segment.nameOf(passage)
        if (name !== null) this.#names.push(name)
        if (lists !== null) this.#lists?.copy(lists, passage, { terms, known })
        const lead = segment.leadOf[passage] ?? -1
        if (lead !== -1 && !moved.has(lead)) {
          moved.set(lead, this.#leads.size)
          this.#leads.copy(leads, lead)
        }
        this.#describe({
          ...{ length: segment.lengths[passage] ?? 0, language: segment.language(passage) },
          ...{ page: segment.pages[passage] ?? -1, leadOf: moved.get(lead) ?? -1 },
        })
        this.#vectors.copy(vectors, passage)
      }
      yield
    }
    yield* this.#inverted.copy(segment.inverted, passages, known)
    yield* this.#titles.copy(segment.titles, documents, known)
    return { known, documents }
  }

  /** Returns the segment; yields every few milliseconds. */
  *finished(more: ColumnsOf = noColumns): Generator<void, SegmentBytes, void> {
    const ordered = yield* this.numbers.ordered()
    const { places } = ordered
    const added = yield* more(places)
    const lists = { ...(yield* this.#listColumns(places)), ...added.lists }
    const facts = yield* textColumns('facts', this.#facts)
    const vectors = yield* this.#vectors.columns('vectors')
    const documents = packed({
      ...{ ids: textColumn(this.#ids), versions: Float64Array.from(this.#versions) },
      ...{ starts: Int32Array.from(this.#starts), ...facts },
      removals: Buffer.from(JSON.stringify(this.removals satisfies Removals)),
      ...added.documents,
    })
    yield
    const passages = packed({
      ...(yield* dictionaryColumns(ordered)),
      ...(yield* this.#inverted.columns('inverted', places)),
      ...(yield* this.#titles.columns('titles', places)),
      ...{ lengths: Int32Array.from(this.#lengths), languages: Uint8Array.from(this.#languages) },
      ...(this.#names.length > 0 && (yield* textColumns('names', this.#names))),
      ...(this.#hasPages && { pages: Int32Array.from(this.#pages) }),
      ...(yield* this.#leads.columns('leads')),
      ...(this.#leads.size > 0 && { 'lead of': Int32Array.from(this.#leadOf) }),
    })
    yield
    return {
      ...{ documents, passages },
      ...(Object.keys(vectors).length > 0 && { vectors: packed(vectors) }),
      ...(Object.keys(lists).length > 0 && { lists: packed(lists) }),
    }
  }

  *#listColumns(places: Int32Array): Generator<void, Readonly<Record<string, Column>>, void> {
    return this.#lists === null ? {} : yield* this.#lists.columns('terms', places)
  }
}
