import { type Embedder, isZero, type PageHit } from '#retrieval/index.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import type { WebPageRow } from '../store/page-store.ts'
import { sinceOf } from './filters.ts'
import { acceptsOf, type FilteredQuery, type PageFilter } from './page-filter.ts'
import type { PageIndexes } from './page-indexes.ts'

export interface PageSearchParts {
  readonly indexes: Pick<PageIndexes, 'search' | 'rows' | 'correct'>
  readonly embedder: Embedder | null
  /** Project whose pages every project finds; null when there is none. */
  readonly shared: string | null
  readonly now: () => number
}

export type PageSearch = BodyOf<'web.search'> & { readonly project: string }

type Answer = ResultOf<'web.search'>
type Result = Answer['results'][number]

/** Version of the ranking; incremented when it changes. */
const engine = 'troupe-web-2'
const maxSnippet = 400
/** Number of searches until pages that change all the time are left out. */
const maxTries = 3

/** Searches the pages of a project and of the shared corpus. When the embedder fails, the search uses words only. */
export const searchPages = async (parts: PageSearchParts, search: PageSearch): Promise<Answer> => {
  const { project, query, limit, domain } = search
  const filter = filterOf(search, parts.now())
  const vector = await vectorOf(parts.embedder, query)
  const corpora = [...new Set([project, ...(parts.shared === null ? [] : [parts.shared])])]
  const pageQuery = {
    ...{ text: query, vector, embedder: vector === null ? null : (parts.embedder?.id ?? null), limit, filter },
    ...{ accepts: filter === null ? null : acceptsOf(filter), diverse: domain === undefined, now: parts.now() },
  }
  const found = await Promise.all(
    corpora.map(async (corpus) => {
      const hits = await foundIn(parts.indexes, corpus, pageQuery)
      return hits.map(([hit, row]) => resultOf(hit, row, { corpus: corpus === project ? 'project' : 'shared', search }))
    }),
  )
  const results = withoutTwins(found.flat().toSorted((a, b) => b.score - a.score)).slice(0, limit)
  const searchEngine = vector === null ? `${engine}:lexical` : `${engine}:hybrid+${parts.embedder?.id ?? ''}`
  return { query, count: results.length, searchEngine, results, untrusted: true }
}

/**
 * Finds pages with their rows. A page that was changed since the index was read is read again, because its passages are
 * elsewhere; one that was removed is not found.
 */
const foundIn = async (
  indexes: PageSearchParts['indexes'],
  corpus: string,
  query: FilteredQuery,
): Promise<readonly (readonly [PageHit, WebPageRow])[]> => {
  for (let tries = 1; ; tries++) {
    const hits = await indexes.search(corpus, query)
    const rows = await indexes.rows(
      corpus,
      hits.map(({ page }) => page.id),
    )
    const isSame = ({ page }: PageHit): boolean => rows.get(page.id)?.data.content_hash === page.contentHash
    const changed = hits.filter((hit) => rows.has(hit.page.id) && !isSame(hit))
    const gone = hits.flatMap(({ page: { id } }) => (rows.has(id) ? [] : [id]))
    const isWrong = changed.length > 0 || gone.length > 0
    if (isWrong)
      await indexes.correct(
        corpus,
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

/**
 * Returns the filter of a search; null when it accepts all pages.
 *
 * @throws {ServiceError} `invalid_field` for an invalid freshness
 */
const filterOf = ({ domain, freshness, language }: PageSearch, now: number): PageFilter | null => {
  const since = sinceOf({ freshness }, now)
  if (since === undefined && domain === undefined && language === undefined) return null
  return {
    ...(since !== undefined && { since }),
    ...(domain !== undefined && { host: domain.toLowerCase() }),
    ...(language !== undefined && { language: language.toLowerCase() }),
  }
}

const vectorOf = async (embedder: Embedder | null, query: string): Promise<Float32Array | null> => {
  try {
    const vector = (await embedder?.embed([query], 'query'))?.[0] ?? null
    return vector === null || isZero(vector) ? null : vector
  } catch {
    return null
  }
}

const resultOf = (
  { passage, score, signals }: PageHit,
  { id, data }: WebPageRow,
  { corpus, search }: { readonly corpus: 'project' | 'shared'; readonly search: PageSearch },
): Result => {
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
    ...(search.explain === true && { signals: { ...signals } }),
  }
}

const withoutTwins = (results: readonly Result[]): readonly Result[] => {
  const seen = new Set<string>()
  return results.filter(({ contentHash }) => !seen.has(contentHash) && seen.add(contentHash) !== undefined)
}
