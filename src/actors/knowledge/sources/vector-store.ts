import { createHash } from 'node:crypto'
import type { ReadDocument, Vectors } from '#machines/knowledge-source/knowledge-source.ts'
import { type Embedder, leadsOf, textOfVector, vectorOfText } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { persistently } from '#runtime/internal.ts'
import { storedVectors } from '../schema.ts'
import { chunksOf, type SourceChunk } from './document-store.ts'
import { chunkOfLead, leadId } from './lead-id.ts'
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
  readonly clock: Clock
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
  { owner, document, before, searchable = null, clock, signal }: Embedding,
): Promise<Vectors> => {
  const known = before?.embedder === embedder.id ? await vectorsOf(blobs, owner, before) : new Map<string, string>()
  const text = await blobs.text(owner, document.text)
  const leads = await leadsIn(blobs, owner, { document, text })
  const parts: string[] = []
  for await (const chunks of chunksOf(blobs, owner, document)) {
    signal.throwIfAborted()
    const texts = chunks.flatMap((chunk) => [chunkText(text, chunk), leads.get(chunk.id) ?? []].flat())
    const key = `${embedder.id} ${document.chunks[parts.length]}${leads.size === 0 ? '' : ` ${idsHash(texts)}`}`
    const stored = (await blobs.keyed(owner, 'vec', key)) ?? (await put(key, texts))
    if (searchable !== null) await makeSearchable(searchable, owner, stored)
    parts.push(stored.name)
  }
  return { embedder: embedder.id, parts, count: document.chunk_count, ...(hasPages(document) && { leads: true }) }

  async function put(key: string, texts: readonly Embedded[]) {
    const vectors = await made(texts)
    const store = () => blobs.putKeyed(owner, 'vec', { key, text: vectors })
    return { name: await persistently({ clock, signal }, store), text: vectors }
  }

  async function made(texts: readonly Embedded[]): Promise<string> {
    const missing = texts.filter(({ id }) => !known.has(id))
    for (let first = 0; first < missing.length; first += batch) {
      signal.throwIfAborted()
      const some = missing.slice(first, first + batch)
      const vectors = await embedder.embed(
        some.map((each) => each.text),
        'passage',
      )
      for (const [index, { id }] of some.entries()) {
        const vector = vectors[index]
        if (vector !== undefined) known.set(id, textOfVector(vector))
      }
    }
    return JSON.stringify(texts.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id)]] : [])))
  }
}

/** A text to embed: a chunk, or the lead of a page. */
interface Embedded {
  readonly id: string
  readonly text: string
}

const chunkText = (text: string, { id, start, end, heading }: SourceChunk): Embedded => {
  const own = text.slice(start, end)
  return { id, text: heading === null || heading === '' ? own : `${heading}\n${own}` }
}

interface Paged {
  readonly document: ReadDocument
  readonly text: string
}

/** Returns the leads of a document's pages, by the id of the first chunk of the page. */
async function leadsIn(
  blobs: SourceBlobs,
  owner: BlobOwner,
  { document, text }: Paged,
): Promise<ReadonlyMap<string, Embedded>> {
  const pages: { readonly id: string; readonly page: number; readonly start: number; end: number }[] = []
  if (!hasPages(document)) return new Map()
  for await (const chunks of chunksOf(blobs, owner, document)) {
    for (const { id, page, start, end } of chunks) {
      const last = pages.at(-1)
      if (page !== null && page === last?.page) last.end = end
      else if (page !== null) pages.push({ id, page, start, end })
    }
  }
  const leads = leadsOf(pages.map(({ start, end }) => text.slice(start, end)))
  return new Map(pages.map(({ id }, at) => [id, leadText(id, leads[at] ?? '')]))
}

/** A lead depends on other pages too, so its id includes a hash of its text. */
const leadText = (chunk: string, text: string): Embedded => ({
  id: leadId(chunk, hashOf(text)),
  text,
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
const idsHash = (texts: readonly Embedded[]): string => hashOf(texts.map(({ id }) => id).join(' '))

/** Returns the stored vectors of leads, by the id of the first chunk of the page. */
export const leadVectors = (vectors: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map(
    [...vectors].flatMap(([id, vector]) => {
      const chunk = chunkOfLead(id)
      return chunk === null ? [] : [[chunk, vector]]
    }),
  )

const hasPages = ({ page_count }: Pick<ReadDocument, 'page_count'>): boolean =>
  page_count !== null && page_count !== undefined

/**
 * Whether a document lacks vectors of this embedder: of its chunks, or of the leads of its pages, which earlier
 * releases did not embed.
 */
export const lacksVectors = (
  { document, vectors }: { readonly document: ReadDocument | null; readonly vectors: Vectors | null },
  embedder: string,
): boolean =>
  document !== null && (vectors?.embedder !== embedder || (hasPages(document) && vectors.leads === undefined))

/**
 * Returns the stored vectors by the id of their chunk, with those of leads, without those that are gone: an embedding
 * removes earlier ones before its own are known to be the newest. @throws {StoreUnavailable}
 */
export const vectorsOf = async (
  blobs: SourceBlobs,
  owner: BlobOwner,
  { parts }: Pick<Vectors, 'parts'>,
): Promise<Map<string, string>> => {
  const known = new Map<string, string>()
  for (const name of parts) {
    const stored = await blobs.textIfThere(owner, [name])
    if (stored !== null) for (const [id, vector] of storedVectors(JSON.parse(stored))) known.set(id, vector)
  }
  return known
}

/** Returns a stored vector in the form that an index takes; null when there is none. */
export const readVector = (text: string | undefined): Float32Array | null =>
  text === undefined ? null : vectorOfText(text)
