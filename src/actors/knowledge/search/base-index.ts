import type { LoadedIndex, SegmentRef } from '#actors/indexing/stored-index.ts'
import {
  DocumentSegment,
  type IndexedDocument,
  type Language,
  PassageIndex,
  SegmentedIndex,
  type SegmentReader,
  wholeSegment,
} from '#retrieval/index.ts'
import { areSameFacts, factsOf } from '../index/source-facts.ts'
import { type SourceFacts, type SourceRow, storedFacts } from '../schema.ts'
import type { SourceFilter } from './metadata-filter.ts'
import type { SourceVectors, StoredSources } from './stored-sources.ts'

type IndexedSource = IndexedDocument<DocumentSegment, SourceFacts>

/** Where a hit is: its source, what the index knows of it, and the number of the chunk in it. */
export interface ChunkPlace {
  readonly source: string
  readonly facts: SourceFacts
  readonly order: number
}

export interface BaseIndexParts {
  /** Id of the embedder whose vectors are searched; null for none. */
  readonly embedder: string | null
  /** The sources whose vectors the database searches. */
  readonly stored: StoredSources
  /** Returns the id of the project's embedder, after it may have changed. */
  readonly embedderOf: () => Promise<string | null>
}

/** The chunks of one knowledge base, read from the segments of its index. */
export class BaseIndex implements LoadedIndex<SourceRow> {
  readonly #parts: BaseIndexParts
  readonly #index = new SegmentedIndex<DocumentSegment, SourceFacts>(new PassageIndex('document'))
  /** Sources whose vectors are searched by the database, as their segments were read. */
  readonly #stored = new Set<string>()
  /** Id of the embedder that the project has now. */
  wanted: string | null
  /** Places of chunks by their ids; made when the database has found some. */
  #places: Map<string, string> | null = null

  constructor(parts: BaseIndexParts) {
    this.#parts = parts
    this.wanted = parts.embedder
  }

  /** Id of the embedder whose vectors the index holds; null for none. */
  get embedder(): string | null {
    return this.#parts.embedder
  }

  get passages(): PassageIndex {
    return this.#index.passages
  }

  get size(): number {
    return this.#index.size
  }

  get bytes(): number {
    return this.#index.bytes
  }

  get extent(): number {
    return this.#index.extent
  }

  get segments(): number {
    return this.#index.segments
  }

  get language(): Language {
    return this.#index.passages.language
  }

  get ids(): Iterable<string> {
    return Array.from(this.#index.documents, ({ id }) => id)
  }

  get stored(): StoredSources {
    return this.#parts.stored
  }

  /** Sources, with what a filter can examine. */
  get sources(): Iterable<{ readonly id: string; readonly facts: SourceFacts; readonly isStored: boolean }> {
    return Array.from(this.#index.documents, ({ id, details }) => ({
      ...{ id, facts: details, isStored: this.#stored.has(id) },
    }))
  }

  /** Whether the database searches the vectors of any source. */
  get hasStored(): boolean {
    return this.#stored.size > 0
  }

  /** Notes whether the database could search the vectors. */
  noteSearch(isDone: boolean): void {
    this.#parts.stored.noteSearch(isDone)
  }

  has(row: SourceRow): boolean {
    const source = this.#index.document(row.id)
    const facts = factsOf(row)
    if (source === undefined || facts === null) return false
    return source.version >= row.version || areSameFacts(source.details, facts)
  }

  /** Whether the vectors have to be read again: those of another embedder, or from another place. */
  async prepare(stored: readonly SegmentRef[]): Promise<boolean> {
    const embedder = await this.#parts.embedderOf()
    const total = stored.reduce((sum, { passages }) => sum + passages, 0)
    const sources = [...this.#index.documents]
    await this.#parts.stored.update({ total, sources: sources.map(vectorsOf) }, embedder)
    this.wanted = embedder
    if (embedder !== this.embedder) return true
    return sources.some((source) => this.#parts.stored.has(vectorsOf(source)) !== this.#stored.has(source.id))
  }

  async load(read: SegmentReader): Promise<void> {
    const parts = new Map<string, Uint8Array | undefined>()
    const once: SegmentReader = async (part) => {
      if (!parts.has(part)) parts.set(part, await read(part))
      return parts.get(part)
    }
    const plain = new DocumentSegment(await wholeSegment(once, []))
    const facts = plain.ids.map((_, at) => storedFacts(plain.factsOf(at)))
    const places = plain.ids.map((id, at) => this.#placeOf(id, facts[at]))
    const needsVectors = places.includes('here')
    const segment = needsVectors ? new DocumentSegment(await wholeSegment(once, ['vectors'])) : plain
    const added = this.#index.load(segment, {
      details: (_, at) => facts[at] ?? storedFacts(segment.factsOf(at)),
      titleOf: (at) => facts[at]?.titles ?? '',
      vectorsOf: (at) => places[at] ?? null,
    })
    for (const [at, source] of added.entries()) {
      if (source === null) continue
      if (places[at] === 'stored') this.#stored.add(source.id)
      else this.#stored.delete(source.id)
    }
    this.#places = null
  }

  #placeOf(id: string, facts: SourceFacts | undefined): 'here' | 'stored' | null {
    if (facts?.vectors?.embedder !== this.embedder) return null
    return this.#parts.stored.has({ id, ...facts }) ? 'stored' : 'here'
  }

  /** Returns the sources whose vectors by an embedder are missing, or not stored for the database to search. */
  lacking(embedder: string): readonly string[] {
    return [...this.#index.documents].flatMap((source) => {
      const { vectors, has_leads, has_pages } = source.details
      const isStale = vectors?.embedder !== embedder || (has_pages && !has_leads)
      return isStale || this.#parts.stored.lacks(vectorsOf(source)) ? [source.id] : []
    })
  }

  forget(id: string): void {
    this.#index.forget(id)
  }

  /** Returns where a passage is; null when its source was removed meanwhile. */
  placeOf(passage: string): ChunkPlace | null {
    const end = passage.lastIndexOf(' ')
    const source = this.#index.document(passage.slice(0, end))
    return source === undefined
      ? null
      : { source: source.id, facts: source.details, order: Number(passage.slice(end + 1)) }
  }

  /** Returns the id of the chunk of a passage. */
  chunkOf(passage: string): string {
    const end = passage.lastIndexOf(' ')
    const source = this.#index.document(passage.slice(0, end))
    const first = source?.segment.starts[source.at] ?? 0
    return source?.segment.nameOf(first + Number(passage.slice(end + 1))) ?? ''
  }

  /** Returns the passage of a chunk; null when there is none. */
  passageOf(chunk: string): string | null {
    if (this.#places === null) {
      this.#places = new Map()
      for (const { id, size, segment, at } of this.#index.documents)
        for (let order = 0; order < size; order++)
          this.#places.set(segment.nameOf((segment.starts[at] ?? 0) + order) ?? '', `${id} ${order}`)
    }
    return this.#places.get(chunk) ?? null
  }

  /** Whether the database searches the vector of a passage. */
  isStored(passage: string): boolean {
    return this.#stored.has(passage.slice(0, passage.lastIndexOf(' ')))
  }

  /** Returns a filter of sources that a search takes. */
  accepting(accepts: SourceFilter): (source: string) => boolean {
    return (id) => {
      const source = this.#index.document(id)
      return source !== undefined && accepts({ id, data: source.details })
    }
  }
}

const vectorsOf = ({ id, details: { vectors } }: IndexedSource): SourceVectors => ({ id, vectors })
