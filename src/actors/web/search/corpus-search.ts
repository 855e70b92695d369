import { exactTextOf, exactVectorOf, type PageHit } from '#retrieval/index.ts'
import type { PlacedService, PlacedTask } from '#runtime/internal.ts'
import type { ResultOf } from '#specs/index.ts'
import { pagesPlace } from '../store/page-changes.ts'
import type { WebPageRow } from '../store/page-store.ts'
import { acceptsOf, type FilteredQuery, type PageFilter } from './page-filter.ts'
import type { PageIndexes } from './page-indexes.ts'
import { receivedPages, receivedSearch } from './schema.ts'

/** A search of the pages of one project, as another process gets it. The caller's access has already been checked. */
export type CorpusSearch = {
  readonly project: string
  /** Whose pages they are to the caller. */
  readonly corpus: PageResult['corpus']
  readonly text: string
  /** The query's vector, as `exactTextOf` writes it. */
  readonly vector: string | null
  readonly embedder: string | null
  readonly limit: number
  readonly filter: PageFilter | null
  readonly diverse: boolean
  readonly explain: boolean
  readonly now: number
  /** Whether the index has to have all changes made before the search. */
  readonly isExact: boolean
}

export type PageResult = ResultOf<'web.search'>['results'][number]

type Searched = Pick<PageIndexes, 'search' | 'rows' | 'correct'>

/** Name of the service that searches the pages of a project for other processes. */
export const corpusService = 'web.search'

const maxSnippet = 400
/** Number of searches until pages that change all the time are left out. */
const maxTries = 3

/** Returns the search as work of the process that keeps the index of the project. */
export const placedSearch = (
  indexes: Searched,
  search: CorpusSearch,
  signal?: AbortSignal,
): PlacedTask<readonly PageResult[]> => ({
  ...{ service: corpusService, key: pagesPlace(search.project).id },
  here: () => searchCorpus(indexes, search, signal),
  signal,
  input: () => search,
  answered: receivedPages,
})

/** Searches for other processes. */
export const corpusServer =
  (indexes: Searched): PlacedService =>
  async (input, signal) => ({ results: await searchCorpus(indexes, receivedSearch(input), signal) })

const searchCorpus = async (
  indexes: Searched,
  search: CorpusSearch,
  signal?: AbortSignal,
): Promise<readonly PageResult[]> => {
  const { text, embedder, limit, filter, diverse, now } = search
  const vector = search.vector === null ? null : exactVectorOf(search.vector)
  const accepts = filter === null ? null : acceptsOf(filter)
  const query = {
    text,
    vector,
    embedder,
    limit,
    filter,
    accepts,
    diverse,
    now,
    ...(signal !== undefined && { signal }),
  }
  const found = await foundIn(indexes, search, query)
  return found.map(([hit, row]) => resultOf(hit, row, search))
}

/**
 * Finds pages with their rows. A page that was changed since the index was read is read again, because its passages are
 * elsewhere; one that was removed is not found.
 */
const foundIn = async (
  indexes: Searched,
  { project, isExact }: CorpusSearch,
  query: FilteredQuery,
): Promise<readonly (readonly [PageHit, WebPageRow])[]> => {
  for (let tries = 1; ; tries++) {
    query.signal?.throwIfAborted()
    const hits = await indexes.search(project, query, isExact)
    const rows = await indexes.rows(
      project,
      hits.map(({ page }) => page.id),
    )
    const isSame = ({ page }: PageHit): boolean => rows.get(page.id)?.data.content_hash === page.contentHash
    const changed = hits.filter((hit) => rows.has(hit.page.id) && !isSame(hit))
    const gone = hits.flatMap(({ page: { id } }) => (rows.has(id) ? [] : [id]))
    const isWrong = changed.length > 0 || gone.length > 0
    if (isWrong)
      await indexes.correct(
        project,
        changed.flatMap(({ page: { id } }) => rows.get(id) ?? []),
        gone,
      )
    if (changed.length === 0 || tries === maxTries)
      return hits.filter(isSame).flatMap((hit) => {
        const row = rows.get(hit.page.id)
        return row === undefined ? [] : [[hit, row] as const]
      })
  }
}

const resultOf = (
  { passage, score, signals }: PageHit,
  { id, data }: WebPageRow,
  { corpus, explain }: CorpusSearch,
): PageResult => {
  const quote = data.text.slice(passage.start, passage.end).slice(0, 1_000)
  const retrievedAt = new Date(data.retrieved_at).toISOString()
  return {
    id,
    title: data.title,
    url: data.url,
    canonicalUrl: data.canonical_url,
    snippet: quote.length <= maxSnippet ? quote : `${quote.slice(0, maxSnippet - 1).trimEnd()}…`,
    score,
    contentHash: data.content_hash,
    retrievedAt,
    publishedAt: data.published_at === null ? null : new Date(data.published_at).toISOString(),
    evidence: { quote, contentHash: data.content_hash, retrievedAt },
    corpus,
    ...(explain && { signals: { ...signals } }),
  }
}

/** Returns a vector as a search has it. */
export const vectorText = (vector: Float32Array | null): string | null => (vector === null ? null : exactTextOf(vector))
