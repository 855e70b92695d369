import type { Services } from '#actors/capability/services.ts'
import { isZero, type PassageHits, type PassageQuery } from '#retrieval/index.ts'
import { type PlacedService, type PlacedWork, within } from '#runtime/internal.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxEmbeddedQueryLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { JsonObject, VectorStore } from '#storage/index.ts'
import { foundAnswer, receivedSearch } from '../schema.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import { fileIdOf } from '../stores/store-files.ts'
import type { BaseIndex } from './base-index.ts'
import type { BaseIndexes } from './base-indexes.ts'
import type { FoundChunk, FoundChunks } from './found-chunks.ts'
import { type SourceCondition, type SourceFilter, sourceFilter } from './metadata-filter.ts'
import { storedCandidates } from './stored-candidates.ts'

export interface SearchParts extends Pick<Services, 'clock' | 'log' | 'now'> {
  readonly indexes: Pick<BaseIndexes, 'of' | 'drop' | 'settle'>
  /** Lets the node that keeps the index of a base search it. */
  readonly placed: Pick<PlacedWork, 'run'>
  readonly found: Pick<FoundChunks, 'read'>
  readonly embedderOf: EmbedderOf
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
}

/** What a node needs to search itself. */
type HereParts = Omit<SearchParts, 'placed'> & {
  /** Ends a search that is not waited for any more. */
  readonly signal?: AbortSignal | undefined
}

/** A search of one base. The caller's access has already been checked. */
export type BaseSearch = {
  readonly project: string
  /** The tenant that the base belongs to; null: the project. */
  readonly tenant: string | null
  readonly base: string
  readonly query: string
  readonly top_k: number
  readonly threshold: number
  readonly filter: SourceCondition | null
  readonly explain: boolean
}

type SearchAnswer = ResultOf<'knowledge_bases.search'>

/** A hit, with the id of its source as a file of OpenAI's API. */
export type KnowledgeHit = SearchAnswer['data'][number] & { readonly file_id: string }

/** What a search has found. */
export type FoundAnswer = Omit<SearchAnswer, 'data'> & { readonly data: readonly KnowledgeHit[] }

/** A result without hits. */
export const nothingFound: FoundAnswer = { data: [], abstained: true, embedder: null }

/** Name of the service that searches bases for other processes. */
export const baseService = 'knowledge.search'

/** A search as another process gets it. */
export type PlacedBaseSearch = BaseSearch & {
  /** Whether the index has to have all changes made before the search. */
  readonly isExact: boolean
}

/**
 * Searches a base, on the node that keeps its index. When the embedder fails or is slow, or the database that searches
 * its vectors fails, the search uses words only, and the result has no `embedder`.
 *
 * @throws {StoreUnavailable}
 */
export const searchBase = async (
  parts: SearchParts,
  search: BaseSearch,
  signal?: AbortSignal,
): Promise<FoundAnswer> => {
  const placed: PlacedBaseSearch = { ...search, isExact: await parts.indexes.settle(search) }
  return parts.placed.run({
    ...{ service: baseService, key: search.base, input: () => placed, answered: foundAnswer },
    here: () => searchHere({ ...parts, signal }, placed),
    signal,
  })
}

/** Searches for other processes. */
export const baseServer =
  (parts: HereParts): PlacedService =>
  async (input, signal) => ({ ...(await searchHere({ ...parts, signal }, receivedSearch(input))) })

const searchHere = async (parts: HereParts, { isExact, ...search }: PlacedBaseSearch): Promise<FoundAnswer> => {
  for (let tries = 1; ; tries++) {
    parts.signal?.throwIfAborted()
    const index = await parts.indexes.of(search, isExact || tries > 1)
    parts.signal?.throwIfAborted()
    const { found, embedder } = await foundIn(parts, index, search)
    const passages = found.hits.map(({ id }) => id)
    const chunks = await parts.found.read(search.project, index, passages)
    // a source that was read again since is searched again, where its chunks are now
    if (tries < maxTries && passages.some((id) => chunks.get(id) === null)) continue
    const data = hitsOf(chunks, found)
    const left = found.left_out?.map(({ id, score, reason }) => ({ chunk_id: index.chunkOf(id), score, reason }))
    return {
      data,
      abstained: data.length === 0,
      embedder,
      ...(search.explain && { left_out: left ?? [] }),
    }
  }
}

/** Number of searches until sources that change all the time are left out. */
const maxTries = 3

const foundIn = async (parts: HereParts, index: BaseIndex, search: BaseSearch) => {
  const { query, top_k, threshold, explain } = search
  const accepts = search.filter === null ? null : sourceFilter(search.filter)
  const words: PassageQuery = {
    ...{ text: query, vector: null, limit: top_k, threshold, explain, now: parts.now() },
    ...(accepts !== null && { acceptsDocument: index.accepting(accepts) }),
    ...(parts.signal !== undefined && { signal: parts.signal }),
  }
  const meant = await meaningOf(parts, { index, search, accepts })
  return searched(parts, { index, words, meant })
}

type Meaning = Required<Pick<PassageQuery, 'vector' | 'topic' | 'embedder'>> & Pick<PassageQuery, 'stored'>

/**
 * Returns the query's vectors; null when there is no embedder, when it fails, when it cannot read the query, or when the
 * index still has the vectors of another one.
 */
const meaningOf = async (
  parts: HereParts,
  {
    index,
    search,
    accepts,
  }: { readonly index: BaseIndex; readonly search: BaseSearch; readonly accepts: SourceFilter | null },
): Promise<Meaning | null> => {
  const { project, base, top_k: limit } = search
  const query = beginningOf(search.query)
  const embedded = await vectorsOf(parts, project, () => [query, index.passages.topicOf(query)])
  if (embedded === null) return null
  const embedder = embedded.id
  // vectors of different embedders cannot be compared
  if (embedder !== index.embedder) return null
  const [vector = null, topic = null] = embedded.vectors.map((each) => (isZero(each) ? null : each))
  if (vector === null) return null
  if (parts.vectors === null || !index.hasStored) return { vector, topic, embedder }
  const posed = { project, base, embedder, index, accepts, vector, topic, limit }
  const stored = storedCandidates(parts.vectors, posed)
  return { vector, topic, embedder, stored }
}

/** Returns the beginning of a query that is embedded: models read no more, and providers charge for it. */
const beginningOf = (query: string): string => query.slice(0, maxEmbeddedQueryLength).toWellFormed()

interface Searched {
  readonly index: BaseIndex
  readonly words: PassageQuery
  readonly meant: Meaning | null
}

/** Searches by words and vectors, or by words only. */
const searched = async ({ log }: HereParts, { index, words, meant }: Searched) => {
  try {
    const found = await index.passages.search({ ...words, ...meant })
    if (meant?.stored !== undefined) index.noteSearch(true)
    return { found, embedder: meant?.embedder ?? null }
  } catch (err) {
    words.signal?.throwIfAborted()
    if (meant?.stored === undefined) throw err
    index.noteSearch(false)
    log.warn({ err }, 'the database cannot search vectors: found by words only')
    return { found: await index.passages.search(words), embedder: null }
  }
}

/**
 * Time in ms for which a search waits for the vectors of its query. An embedder that is opening, or has a queue, takes
 * longer on a busy machine, and a turn waits for the search.
 */
const maxEmbeddingMs = 3_000

/** @param texts called only if there is an embedder, since finding the topic of a query reads all titles. */
const vectorsOf = async (
  { embedderOf, clock }: HereParts,
  project: string,
  texts: () => readonly (string | null)[],
) => {
  const embedder = await embedderOf(project)
  if (embedder === null) return null
  try {
    const embedding = embedder.embed(
      texts().filter((text) => text !== null),
      'query',
    )
    const vectors = await within(clock, maxEmbeddingMs, embedding)
    return { id: embedder.id, vectors }
  } catch {
    return null
  }
}

const hitsOf = (chunks: ReadonlyMap<string, FoundChunk | null>, { hits }: PassageHits): readonly KnowledgeHit[] =>
  hits.flatMap(({ id, score, parts }) => {
    const found = chunks.get(id) ?? null
    return found === null ? [] : [{ ...hitOf(found), score, ...(parts !== undefined && { parts: { ...parts } }) }]
  })

const hitOf = ({ row, chunk, content }: FoundChunk): Omit<KnowledgeHit, 'score'> => {
  const { data } = row
  const { start, end, page, heading } = chunk
  const metadata: JsonObject = data.metadata
  return {
    chunk_id: chunk.id,
    source_id: row.id,
    file_id: fileIdOf(row),
    content,
    heading,
    metadata,
    citation: {
      source_id: row.id,
      title: data.title ?? data.document?.title ?? data.filename,
      ...(page !== null && { page }),
      ...{ start, end },
      ...(data.url !== null && { url: data.url }),
      ...(data.filename !== null && { filename: data.filename }),
    },
  }
}
