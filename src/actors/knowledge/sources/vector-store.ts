import type { ReadDocument, Vectors } from '#machines/knowledge-source/knowledge-source.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { textOfVector, vectorOfText } from '#retrieval/vector-bytes.ts'
import { storedVectors } from '../schema.ts'
import { chunksOf, type SourceChunk } from './document-store.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'

/** Texts of one request to an embedder. */
const batch = 64

/** A document whose chunks get vectors. */
export interface Embedding {
  readonly owner: BlobOwner
  readonly document: ReadDocument
  /** Of the document before; chunks that are still there keep theirs. */
  readonly before: Vectors | null
  readonly signal: AbortSignal
}

/**
 * Vectors of all chunks, stored part by part: what was stored before a crash is not made again.
 * @throws {StoreUnavailable} {BlobGone}, and what the embedder throws.
 */
export const embedDocument = async (
  blobs: SourceBlobs,
  embedder: Pick<Embedder, 'id' | 'embed'>,
  { owner, document, before, signal }: Embedding,
): Promise<Vectors> => {
  const known = before?.embedder === embedder.id ? await vectorsOf(blobs, owner, before) : new Map<string, string>()
  const text = await blobs.text(owner, document.text)
  const parts: string[] = []
  let part = 0
  for await (const chunks of chunksOf(blobs, owner, document)) {
    signal.throwIfAborted()
    const key = `${embedder.id} ${document.chunks[part++]}`
    const stored = await blobs.keyed(owner, 'vec', key)
    parts.push(stored?.name ?? (await blobs.putKeyed(owner, 'vec', { key, text: await made(chunks) })))
  }
  return { embedder: embedder.id, parts, count: document.chunk_count }

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

/** Vectors as text, by the id of their chunk. @throws {StoreUnavailable} {BlobGone} */
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

/** A stored vector as an index takes it. */
export const readVector = (text: string | undefined): Float32Array | null =>
  text === undefined ? null : vectorOfText(text)
