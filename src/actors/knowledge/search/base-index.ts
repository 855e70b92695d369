import { PassageIndex } from '#retrieval/passage-index.ts'
import type { SourceRow } from '../schema.ts'
import { chunksOf, type SourceChunk } from '../sources/document-store.ts'
import { BlobGone, type BlobOwner, type SourceBlobs } from '../sources/source-blobs.ts'
import { readVector, vectorsOf } from '../sources/vector-store.ts'

/** A source as it is searched. */
export interface IndexedSource {
  row: SourceRow
  readonly text: string
  /** What of the row its chunks and vectors follow from. */
  readonly key: string
  readonly ids: readonly string[]
}

/** A chunk, and the source that it is of. */
export interface IndexedChunk {
  readonly source: IndexedSource
  readonly chunk: SourceChunk
}

/** What reading sources needs. */
export interface ReadingParts {
  readonly blobs: SourceBlobs
  /** Resolves at the end of the loop's turn. */
  readonly breathe: () => Promise<void>
  readonly steady: () => number
}

/** Work between two turns of the loop, in ms. */
const sliceMs = 8
const bytesAChunk = 160

/** The chunks of one knowledge base in memory, as its list rows say. */
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

  /** Estimate of its memory. */
  get bytes(): number {
    return this.passages.bytes + this.#textBytes + this.#chunks.size * bytesAChunk
  }

  chunk(id: string): IndexedChunk | undefined {
    return this.#chunks.get(id)
  }

  /** The embedder whose vectors it has; null for none. */
  get embedder(): string | null {
    return this.#embedder
  }

  /** Takes over what the rows have now, with vectors of this embedder only. @throws {StoreUnavailable} */
  async update(rows: AsyncIterable<SourceRow>, embedder: string | null): Promise<readonly SourceRow[]> {
    this.#embedder = embedder
    const seen = new Set<string>()
    const all: SourceRow[] = []
    for await (const row of rows) {
      all.push(row)
      if (row.data.document === null) continue
      seen.add(row.id)
      await this.#take(row)
    }
    for (const id of this.#sources.keys()) if (!seen.has(id)) this.#drop(id)
    return all
  }

  async #take(row: SourceRow): Promise<void> {
    const key = keyOf(row, this.#embedder)
    const known = this.#sources.get(row.id)
    if (known?.key === key) {
      const title = titleOf(row)
      if (titleOf(known.row) !== title) this.passages.nameGroup(row.id, title)
      known.row = row
      return
    }
    try {
      await this.#read(row, key)
    } catch (error) {
      // it was read anew meanwhile: its row says so soon
      if (!(error instanceof BlobGone)) throw error
    }
  }

  async #read(row: SourceRow, key: string): Promise<void> {
    const { blobs, steady, breathe } = this.#parts
    const { document, vectors } = row.data
    if (document === null) return
    const owner: BlobOwner = { project: row.project, tenant: row.tenant, source: row.id }
    const text = await blobs.text(owner, document.text)
    const isOurs = vectors !== null && vectors.embedder === this.#embedder
    const known = isOurs ? await vectorsOf(blobs, owner, vectors) : null
    const chunks: SourceChunk[] = []
    for await (const some of chunksOf(blobs, owner, document)) chunks.push(...some)
    const source: IndexedSource = { row, text, key, ids: chunks.map(({ id }) => id) }
    const kept = new Set(source.ids)
    this.#forget(row.id, kept)
    this.#sources.set(row.id, source)
    this.#textBytes += text.length * 2
    let since = steady()
    for (const [order, chunk] of chunks.entries()) {
      const { id, start, end, heading, page } = chunk
      this.#chunks.set(id, { source, chunk })
      const vector = readVector(known?.get(id))
      const passage = { id, text: text.slice(start, end), group: row.id, order, page, at: row.updated_at, vector }
      this.passages.add(heading === null ? passage : { ...passage, heading })
      if (steady() - since < sliceMs) continue
      await breathe()
      since = steady()
    }
    this.passages.nameGroup(row.id, titleOf(row))
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

/** All that a source is called: its own title, its file's name, and where it is on its site. */
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
    // a path may have bytes that are no UTF-8
    return pathname
  }
}

const keyOf = ({ data: { document, vectors } }: SourceRow, embedder: string | null): string => {
  const parts = vectors?.embedder === embedder ? (vectors?.parts ?? []) : []
  return [...(document?.text ?? []), ...(document?.chunks ?? []), ...parts].join(' ')
}
