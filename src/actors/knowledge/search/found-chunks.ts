import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import { contentOf } from '../index/source-facts.ts'
import type { SourceRow } from '../schema.ts'
import { chunksOf, chunksPerPart, type SourceChunk } from '../sources/document-store.ts'
import { BlobGone, type BlobOwner, type SourceBlobs } from '../sources/source-blobs.ts'
import type { BaseIndex } from './base-index.ts'
import type { BaseIndexes } from './base-indexes.ts'

/** A chunk that was found, its source and its text. */
export interface FoundChunk {
  readonly row: SourceRow
  readonly chunk: SourceChunk
  readonly content: string
}

export interface FoundChunksParts {
  readonly blobs: SourceBlobs
  readonly indexes: Pick<BaseIndexes, 'rows'>
}

/** Maximum number of characters of texts that are kept for further searches. */
const maxKept = 32 * 1024 * 1024

/** Maximum number of texts of several parts whose lengths are kept: about 1 KB each. */
const maxLengths = 10_000

const lengthsIn = async (texts: AsyncIterable<string>): Promise<readonly number[]> => {
  const lengths: number[] = []
  for await (const { length } of texts) lengths.push(length)
  return lengths
}

/** Reads the chunks that searches find. Texts are kept by the names of their blobs, which no change reuses. */
export class FoundChunks {
  readonly #parts: FoundChunksParts
  readonly #texts = new Map<string, string>()
  readonly #lengths = new Map<string, Promise<readonly number[]>>()
  #kept = 0

  constructor(parts: FoundChunksParts) {
    this.#parts = parts
  }

  /**
   * Returns the chunks of passages by these; null for one whose source was removed or read again since the index was
   * read.
   */
  async read(
    project: string,
    index: BaseIndex,
    passages: readonly string[],
  ): Promise<ReadonlyMap<string, FoundChunk | null>> {
    const places = new Map(passages.map((passage) => [passage, index.placeOf(passage)]))
    const ids = new Set([...places.values()].flatMap((place) => place?.source ?? []))
    const rows = ids.size === 0 ? new Map<string, SourceRow>() : await this.#parts.indexes.rows(project, [...ids])
    const found = new Map<string, FoundChunk | null>()
    for (const [passage, place] of places) {
      const row = rows.get(place?.source ?? '')
      const isSame = row !== undefined && place !== null && contentOf(row.data) === place.facts.content
      found.set(passage, isSame ? await this.#chunk(row, place.order) : null)
    }
    return found
  }

  /** Drops the texts of a project of which something was erased. */
  dropErased({ project }: ErasedOwner): void {
    for (const key of this.#texts.keys()) if (key.startsWith(`${project} `)) this.#forget(key)
    for (const key of this.#lengths.keys()) if (key.startsWith(`${project} `)) this.#lengths.delete(key)
  }

  #forget(key: string): void {
    this.#kept -= this.#texts.get(key)?.length ?? 0
    this.#texts.delete(key)
  }

  async #chunk(row: SourceRow, order: number): Promise<FoundChunk | null> {
    const { document } = row.data
    if (document === null) return null
    const owner: BlobOwner = { project: row.project, tenant: row.tenant, source: row.id }
    const part = document.chunks[Math.floor(order / chunksPerPart)]
    const read: Pick<SourceBlobs, 'text'> = { text: (_, names) => this.#text(owner, names) }
    try {
      const chunks: SourceChunk[] = []
      for await (const some of chunksOf(read, owner, { chunks: part === undefined ? [] : [part] })) chunks.push(...some)
      const chunk = chunks[order % chunksPerPart]
      if (chunk === undefined) return null
      return { row, chunk, content: await this.#slice(owner, document.text, chunk) }
    } catch (error) {
      if (error instanceof BlobGone) return null
      throw error
    }
  }

  /** Reads only those parts of a text that a chunk lies in: a text may have 20 M characters. */
  async #slice(owner: BlobOwner, names: readonly string[], { start, end }: SourceChunk): Promise<string> {
    const lengths = names.length === 1 ? [end] : await this.#lengthsOf(owner, names)
    let [content, at] = ['', 0]
    for (const [index, name] of names.entries()) {
      const length = lengths[index] ?? 0
      if (at < end && at + length > start) {
        const text = await this.#text(owner, [name])
        content += text.slice(Math.max(0, start - at), end - at)
      }
      at += length
    }
    return content
  }

  /** Returns the lengths of the parts of a text, which are read one by one for searches that begin at the same time. */
  #lengthsOf(owner: BlobOwner, names: readonly string[]): Promise<readonly number[]> {
    const key = [owner.project, ...names].join(' ')
    const known = this.#lengths.get(key)
    if (known !== undefined) return known
    const read = lengthsIn(this.#parts.blobs.texts(owner, names))
    this.#lengths.set(key, read)
    for (const oldest of this.#lengths.keys()) if (this.#lengths.size > maxLengths) this.#lengths.delete(oldest)
    read.catch(() => this.#lengths.delete(key))
    return read
  }

  async #text(owner: BlobOwner, names: readonly string[]): Promise<string> {
    const key = [owner.project, ...names].join(' ')
    const known = this.#texts.get(key)
    const text = known ?? (await this.#parts.blobs.text(owner, names))
    this.#forget(key)
    this.#texts.set(key, text)
    this.#kept += text.length
    for (const oldest of this.#texts.keys()) {
      if (this.#kept <= maxKept || oldest === key) break
      this.#forget(oldest)
    }
    return text
  }
}
