import type { ReadDocument, Vectors } from '#machines/knowledge-source/knowledge-source.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { textOfVector, vectorOfText } from '#retrieval/vector-bytes.ts'
import { storedVectors } from '../schema.ts'
import { chunksOf, type SourceChunk } from './document-store.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'
import { makeSearchable, type SearchableVectors } from './stored-vectors.ts'

/** Number of texts in one request to an embedder. */
const batch = 64

/** A document whose chunks are to be embedded. */
export interface Embedding {
  readonly owner: BlobOwner
  readonly document: ReadDocument
  /** Vectors of the previous version of the document, reused for chunks that are unchanged. */
  readonly before: Vectors | null
  /** Where vectors are also stored for the database to search; null: nowhere. */
  readonly searchable?: SearchableVectors | null
  readonly signal: AbortSignal
}

/**
 * Embeds all chunks and stores the vectors part by part. Parts that were stored before a crash are not computed again.
 *
 * @throws {StoreUnavailable} {BlobGone}, and the errors of the embedder.
 */
export const embedDocument = async (
  blobs: SourceBlobs,
  embedder: Pick<Embedder, 'id' | 'embed'>,
  { owner, document, before, searchable = null, signal }: Embedding,
): Promise<Vectors> => {
  const known = before?.embedder === embedder.id ? await vectorsOf(blobs, owner, before) : new Map<string, string>()
  const text = await blobs.text(owner, document.text)
  const parts: string[] = []
  let part = 0
  for await (const chunks of chunksOf(blobs, owner, document)) {
    signal.throwIfAborted()
    const key = `${embedder.id} ${document.chunks[part++]}`
    const stored = (await blobs.keyed(owner, 'vec', key)) ?? (await put(key, chunks))
    if (searchable !== null) await makeSearchable(searchable, owner, stored)
    parts.push(stored.name)
  }
  return { embedder: embedder.id, parts, count: document.chunk_count }

  async function put(key: string, chunks: readonly SourceChunk[]) {
    const vectors = await made(chunks)
    return { name: await blobs.putKeyed(owner, 'vec', { key, text: vectors }), text: vectors }
  }

  async function made(chunks: readonly SourceChunk[]): Promise<string> {
    const missing = chunks.filter(({ id }) => !known.has(id))
    for (let first = 0; first < missing.length; first += batch) {
      signal.throwIfAborted()
      const some = missing.slice(first, first + batch)
      const vectors = await embedder.embed(
        some.map((chunk) => embedded(text, chunk)),
        'passage',
      )
      for (const [index, { id }] of some.entries()) {
        const vector = vectors[index]
        if (vector !== undefined) known.set(id, textOfVector(vector))
      }
    }
    return JSON.stringify(chunks.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id)]] : [])))
  }
}

const embedded = (text: string, { start, end, heading }: SourceChunk): string =>
  heading === null || heading === '' ? text.slice(start, end) : `${heading}\n${text.slice(start, end)}`

/** Returns the stored vectors by the id of their chunk. @throws {StoreUnavailable} {BlobGone} */
export const vectorsOf = async (
  blobs: SourceBlobs,
  owner: BlobOwner,
  { parts }: Pick<Vectors, 'parts'>,
): Promise<Map<string, string>> => {
  const known = new Map<string, string>()
  for (const name of parts) {
    for (const [id, vector] of storedVectors(JSON.parse(await blobs.text(owner, [name])))) known.set(id, vector)
  }
  return known
}

/** Returns a stored vector in the form that an index takes; null when there is none. */
export const readVector = (text: string | undefined): Float32Array | null =>
  text === undefined ? null : vectorOfText(text)
