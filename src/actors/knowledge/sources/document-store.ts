import type { ReadDocument } from '#machines/knowledge-source/knowledge-source.ts'
import { derivedId, timeOfId } from '#runtime/index.ts'
import type { DocumentRead } from '#src/parsing/documents/read-document.ts'
import { storedChunks } from '../schema.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'

export interface SourceChunk {
  readonly id: string
  /** Offset of its first character in the source's text; `end` is the offset after the last. */
  readonly start: number
  readonly end: number
  readonly page: number | null
  readonly heading: string | null
}

export type StoredChunk = readonly [id: string, start: number, end: number, page: number | null, heading: string | null]

/** Maximum number of chunks in one blob; parsing that many does not block the event loop noticeably. */
export const chunksPerPart = 500

/** Stores a document that was read. Storing it again adds nothing. @throws {StoreUnavailable} */
export const storeDocument = async (
  blobs: SourceBlobs,
  owner: BlobOwner,
  read: DocumentRead,
): Promise<ReadDocument> => {
  const text = await blobs.putText(owner, 'txt', read.text)
  const chunks: string[] = []
  for (let first = 0; first < read.chunks.length; first += chunksPerPart) {
    const some = read.chunks
      .slice(first, first + chunksPerPart)
      .map(
        ({ digest, start, end, page, heading }): StoredChunk => [
          chunkId(owner.source, digest),
          start,
          end,
          page,
          heading,
        ],
      )
    chunks.push(await blobs.putWhole(owner, 'chk', JSON.stringify(some)))
  }
  const { title, page_count } = read
  return { text, chunks, characters: read.text.length, chunk_count: read.chunks.length, page_count, title }
}

/** Yields the chunks of a document, one blob at a time. @throws {StoreUnavailable} {BlobGone} */
export async function* chunksOf(
  blobs: Pick<SourceBlobs, 'text'>,
  owner: BlobOwner,
  document: Pick<ReadDocument, 'chunks'>,
): AsyncGenerator<readonly SourceChunk[]> {
  for (const name of document.chunks) {
    const stored = storedChunks(JSON.parse(await blobs.text(owner, [name])))
    yield stored.map(([id, start, end, page, heading]) => ({ id, start, end, page, heading }))
  }
}

/** Returns the id of a chunk. It is derived from its source too, so that equal texts in two sources are two chunks. */
const chunkId = (source: string, digest: string): string => derivedId('chk', timeOfId(source) ?? 0, source + digest)
