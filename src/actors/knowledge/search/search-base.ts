import type { Services } from '#actors/capability/services.ts'
import { isZero, type PassageHits, type PassageQuery } from '#retrieval/index.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxEmbeddedQueryLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { JsonObject, VectorStore } from '#storage/index.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import type { BaseIndex, IndexedChunk } from './base-index.ts'
import type { BaseIndexes } from './base-indexes.ts'
import type { SourceFilter } from './metadata-filter.ts'
import { storedCandidates } from './stored-candidates.ts'

export interface SearchParts extends Pick<Services, 'log' | 'now'> {
  readonly indexes: Pick<BaseIndexes, 'of' | 'drop'>
  readonly embedderOf: EmbedderOf
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
}

/** A search of one base. The caller's access has already been checked. */
export interface BaseSearch {
  readonly project: string
  readonly base: string
  readonly query: string
  readonly top_k: number
  readonly threshold: number
  readonly accepts: SourceFilter | null
  readonly explain: boolean
}

export type SearchAnswer = ResultOf<'knowledge_bases.search'>

export type KnowledgeHit = SearchAnswer['data'][number]

/** A result without hits. */
export const nothingFound: SearchAnswer = { data: [], abstained: true, embedder: null }

/**
 * Searches a base. When the embedder fails, or the database that searches its vectors, the search uses words only, and
 * the result has no `embedder`.
 *
 * @throws {StoreUnavailable}
 */
export const searchBase = async (parts: SearchParts, search: BaseSearch): Promise<SearchAnswer> => {
  const { project, base, query, top_k, threshold, accepts, explain } = search
  const index = await parts.indexes.of(project, base)
  const words: PassageQuery = {
    ...{ text: query, vector: null, limit: top_k, threshold, explain, now: parts.now() },
    ...(accepts !== null && { accepts: acceptsOf(index, accepts) }),
  }
  const meant = await meaningOf(parts, index, search)
  const { found, embedder } = await searched(parts, { index, words, meant })
  const data = hitsOf(index, found)
  const left = found.left_out?.map(({ id, score, reason }) => ({ chunk_id: id, score, reason }))
  return {
    data,
    abstained: data.length === 0,
    embedder,
    ...(explain && { left_out: left ?? [] }),
  }
}

type Meaning = Required<Pick<PassageQuery, 'vector' | 'topic' | 'embedder'>> & Pick<PassageQuery, 'stored'>

/**
 * Returns the query's vectors; null when there is no embedder, when it fails, when it cannot read the query, or when the
 * index still has the vectors of another one.
 */
const meaningOf = async (parts: SearchParts, index: BaseIndex, search: BaseSearch): Promise<Meaning | null> => {
  const { project, base, accepts, top_k: limit } = search
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
const searched = async ({ log }: SearchParts, { index, words, meant }: Searched) => {
  try {
    const found = await index.passages.search({ ...words, ...meant })
    if (meant?.stored !== undefined) index.noteSearch(true)
    return { found, embedder: meant?.embedder ?? null }
  } catch (err) {
    if (meant?.stored === undefined) throw err
    index.noteSearch(false)
    log.warn({ err }, 'the database cannot search vectors: found by words only')
    return { found: await index.passages.search(words), embedder: null }
  }
}

/** @param texts called only if there is an embedder, since finding the topic of a query reads all titles. */
const vectorsOf = async ({ embedderOf }: SearchParts, project: string, texts: () => readonly (string | null)[]) => {
  const embedder = await embedderOf(project)
  if (embedder === null) return null
  try {
    const vectors = await embedder.embed(
      texts().filter((text) => text !== null),
      'query',
    )
    return { id: embedder.id, vectors }
  } catch {
    return null
  }
}

/** Returns a filter of chunks that examines each source once. */
const acceptsOf = (index: BaseIndex, accepts: SourceFilter): ((id: string) => boolean) => {
  const decided = new Map<string, boolean>()
  return (id) => {
    const row = index.chunk(id)?.source.row
    if (row === undefined) return false
    const known = decided.get(row.id)
    if (known !== undefined) return known
    const decision = accepts(row)
    decided.set(row.id, decision)
    return decision
  }
}

const hitsOf = (index: BaseIndex, { hits }: PassageHits): readonly KnowledgeHit[] =>
  hits.flatMap(({ id, score, parts }) => {
    const found = index.chunk(id)
    return found === undefined ? [] : [{ ...hitOf(found), score, ...(parts !== undefined && { parts: { ...parts } }) }]
  })

const hitOf = ({ source: { row, text }, chunk }: IndexedChunk): Omit<KnowledgeHit, 'score'> => {
  const { data } = row
  const { start, end, page, heading } = chunk
  const metadata: JsonObject = data.metadata
  return {
    chunk_id: chunk.id,
    source_id: row.id,
    content: text.slice(start, end),
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
