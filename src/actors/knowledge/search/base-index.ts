import { PassageIndex } from '#retrieval/index.ts'
import type { SourceRow } from '../schema.ts'
import { chunksOf, type SourceChunk } from '../sources/document-store.ts'
import { BlobGone, type BlobOwner, type SourceBlobs } from '../sources/source-blobs.ts'
import { leadVectors, readVector, vectorsOf } from '../sources/vector-store.ts'
import type { StoredSources } from './stored-sources.ts'

export interface IndexedSource {
  row: SourceRow
  readonly text: string
  /** Identifies the content of the row from which the chunks and vectors were read. */
  readonly key: string
  readonly ids: readonly string[]
  /** Whether its vectors are not in the index, but searched by the database. */
  readonly isStored: boolean
}

/** A chunk and its source. */
export interface IndexedChunk {
  readonly source: IndexedSource
  readonly chunk: SourceChunk
}

export interface ReadingParts {
  readonly blobs: SourceBlobs
  /** Resolves in the next turn of the event loop. */
  readonly breathe: () => Promise<void>
  readonly steady: () => number
  /** The sources whose vectors the database searches. */
  readonly stored: StoredSources
}

/** Maximum time of work in one turn of the event loop, in ms. */
const sliceMs = 8
const bytesAChunk = 160

/** In-memory index of the chunks of one knowledge base, built from its list rows. */
export class BaseIndex {
  readonly passages = new PassageIndex('document')
  readonly #sources = new Map<string, IndexedSource>()
  readonly #chunks = new Map<string, IndexedChunk>()
  readonly #parts: ReadingParts
  #textBytes = 0
  #embedder: string | null = null

  constructor(parts: ReadingParts) {
    this.#parts = parts
  }

  /** Approximate size in bytes. */
  get bytes(): number {
    return this.passages.bytes + this.#textBytes + this.#chunks.size * bytesAChunk
  }

  chunk(id: string): IndexedChunk | undefined {
    return this.#chunks.get(id)
  }

  get sources(): Iterable<IndexedSource> {
    return this.#sources.values()
  }

  /** Notes whether the database could search the vectors. */
  noteSearch(isDone: boolean): void {
    this.#parts.stored.noteSearch(isDone)
  }

  /** Whether the database searches the vectors of any source. */
  get hasStored(): boolean {
    for (const { isStored } of this.#sources.values()) if (isStored) return true
    return false
  }

  /** Id of the embedder whose vectors the index holds; null for none. */
  get embedder(): string | null {
    return this.#embedder
  }

  /**
   * Updates the index to the state of the rows, with the vectors of this embedder only. Returns the rows.
   *
   * @throws {StoreUnavailable}
   */
  async update(rows: AsyncIterable<SourceRow>, embedder: string | null): Promise<readonly SourceRow[]> {
    this.#embedder = embedder
    const all: SourceRow[] = []
    const pause = this.#pause()
    for await (const row of rows) {
      // a store in this process yields all rows in one turn
      await pause()
      all.push(row)
    }
    await this.#parts.stored.update(all, embedder)
    const seen = new Set<string>()
    for (const row of all) {
      await pause()
      if (row.data.document === null) continue
      seen.add(row.id)
      await this.#take(row)
    }
    for (const id of this.#sources.keys()) if (!seen.has(id)) this.#drop(id)
    return all
  }

  /** Returns a function that lets other work run when a slice of time is over. */
  #pause(): () => Promise<void> {
    const { steady, breathe } = this.#parts
    let since = steady()
    return async () => {
      if (steady() - since < sliceMs) return
      await breathe()
      since = steady()
    }
  }

  async #take(row: SourceRow): Promise<void> {
    const isStored = this.#parts.stored.has(row)
    const key = `${keyOf(row, this.#embedder)}${isStored ? ' stored' : ''}`
    const known = this.#sources.get(row.id)
    if (known?.key === key) {
      const title = titleOf(row)
      if (titleOf(known.row) !== title) this.passages.nameGroup(row.id, title)
      known.row = row
      return
    }
    try {
      await this.#read(row, { key, isStored })
    } catch (error) {
      // the source was read again in the meantime: its list row will show that soon
      if (!(error instanceof BlobGone)) throw error
    }
  }

  async #read(row: SourceRow, { key, isStored }: Pick<IndexedSource, 'key' | 'isStored'>): Promise<void> {
    const { blobs } = this.#parts
    const { document } = row.data
    if (document === null) return
    const owner = ownerOf(row)
    const text = await blobs.text(owner, document.text)
    const { vectorOf, leadOf } = await this.#vectorsOf(row, isStored)
    const chunks: SourceChunk[] = []
    for await (const some of chunksOf(blobs, owner, document)) chunks.push(...some)
    const source: IndexedSource = { row, text, key, ids: chunks.map(({ id }) => id), isStored }
    const kept = new Set(source.ids)
    this.#forget(row.id, kept)
    this.#sources.set(row.id, source)
    this.#textBytes += text.length * 2
    const pause = this.#pause()
    for (const [order, chunk] of chunks.entries()) {
      const { id, start, end, heading, page } = chunk
      this.#chunks.set(id, { source, chunk })
      const [vector, lead] = [vectorOf(id), leadOf(id)]
      const passage = { id, text: text.slice(start, end), group: row.id, order, page, at: row.updated_at, vector, lead }
      this.passages.add(heading === null ? passage : { ...passage, heading })
      await pause()
    }
    this.passages.nameGroup(row.id, titleOf(row))
  }

  /** Returns the vectors of a source's chunks, and of the leads of its pages by the page's first chunk. */
  async #vectorsOf(row: SourceRow, isStored: boolean): Promise<SourceVectors> {
    const { vectors } = row.data
    if (vectors === null || vectors.embedder !== this.#embedder) return { vectorOf: () => null, leadOf: () => null }
    if (isStored) {
      const leads = await this.#parts.stored.leads(row.id)
      return { vectorOf: () => 'stored', leadOf: (id) => leads.get(id) ?? null }
    }
    const known = await vectorsOf(this.#parts.blobs, ownerOf(row), vectors)
    const leads = leadVectors(known)
    return { vectorOf: (id) => readVector(known.get(id)), leadOf: (id) => readVector(leads.get(id)) }
  }

  #drop(id: string): void {
    this.#forget(id, new Set())
  }

  #forget(id: string, kept: ReadonlySet<string>): void {
    const source = this.#sources.get(id)
    if (source === undefined) return
    this.#sources.delete(id)
    this.#textBytes -= source.text.length * 2
    for (const chunk of source.ids) {
      if (kept.has(chunk)) continue
      this.#chunks.delete(chunk)
      this.passages.remove(chunk)
    }
  }
}

interface SourceVectors {
  readonly vectorOf: (chunk: string) => Float32Array | 'stored' | null
  readonly leadOf: (chunk: string) => Float32Array | null
}

const ownerOf = ({ project, tenant, id }: SourceRow): BlobOwner => ({ project, tenant, source: id })

/** Returns all titles of a source: its own, those of its document and file, and its path on its site. */
const titleOf = ({ data: { title, document, filename, url } }: SourceRow): string =>
  [title, document?.title, withoutEnding(filename), url === null ? null : withoutEnding(pathOf(url))]
    .filter(Boolean)
    .join('\n')

const withoutEnding = (name: string | null): string | undefined => name?.replace(/\.\w{1,5}$/, '')

const pathOf = (url: string): string => {
  const { pathname } = new URL(url)
  try {
    return decodeURIComponent(pathname)
  } catch {
    // a path may contain bytes that are not valid UTF-8
    return pathname
  }
}

const keyOf = ({ data: { document, vectors } }: SourceRow, embedder: string | null): string => {
  const parts = vectors?.embedder === embedder ? (vectors?.parts ?? []) : []
  return [...(document?.text ?? []), ...(document?.chunks ?? []), ...parts].join(' ')
}
