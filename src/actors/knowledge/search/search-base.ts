import type { Services } from '#actors/capability/services.ts'
import { isZero, type PassageHits, type PassageQuery } from '#retrieval/index.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxEmbeddedQueryLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { JsonObject, VectorStore } from '#storage/index.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import type { BaseIndex } from './base-index.ts'
import type { BaseIndexes } from './base-indexes.ts'
import type { FoundChunk, FoundChunks } from './found-chunks.ts'
import type { SourceFilter } from './metadata-filter.ts'
import { storedCandidates } from './stored-candidates.ts'

export interface SearchParts extends Pick<Services, 'log' | 'now'> {
  readonly indexes: Pick<BaseIndexes, 'of' | 'drop'>
  readonly found: Pick<FoundChunks, 'read'>
  readonly embedderOf: EmbedderOf
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
}

/** A search of one base. The caller's access has already been checked. */
export interface BaseSearch {
  readonly project: string
  /** The tenant that the base belongs to; null: the project. */
  readonly tenant: string | null
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
  for (let tries = 1; ; tries++) {
    const index = await parts.indexes.of(search)
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

const foundIn = async (parts: SearchParts, index: BaseIndex, search: BaseSearch) => {
  const { query, top_k, threshold, accepts, explain } = search
  const words: PassageQuery = {
    ...{ text: query, vector: null, limit: top_k, threshold, explain, now: parts.now() },
    ...(accepts !== null && { acceptsDocument: index.accepting(accepts) }),
  }
  const meant = await meaningOf(parts, index, search)
  return searched(parts, { index, words, meant })
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
