import { type Embedder, isZero } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { type PlacedWork, within } from '#runtime/internal.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { type PageResult, placedSearch, vectorText } from './corpus-search.ts'
import { sinceOf } from './filters.ts'
import type { PageFilter } from './page-filter.ts'
import type { PageIndexes } from './page-indexes.ts'

export interface PageSearchParts {
  readonly indexes: Pick<PageIndexes, 'search' | 'rows' | 'correct' | 'hasRecent'>
  /** Lets the node that keeps the index of a project search it. */
  readonly placed: Pick<PlacedWork, 'run'>
  readonly embedder: Embedder | null
  /** Project whose pages every project finds; null when there is none. */
  readonly shared: string | null
  readonly now: () => number
  readonly clock: Pick<Clock, 'after'>
}

export type PageSearch = BodyOf<'web.search'> & { readonly project: string }

type Answer = ResultOf<'web.search'>

/** Version of the ranking; incremented when it changes. */
const engine = 'troupe-web-2'
/** Time in ms that a corpus has once another one is searched: it is left out then. */
const laterMs = 5_000

/**
 * Searches the pages of a project and of the shared corpus. When the embedder fails, the search uses words only; when one
 * of the two cannot be searched, the other one is, which the name of the ranking says.
 *
 * @throws {StoreUnavailable} when none can be searched.
 */
export const searchPages = async (
  parts: PageSearchParts,
  search: PageSearch,
  signal?: AbortSignal,
): Promise<Answer> => {
  const { project, query, limit, domain } = search
  const filter = filterOf(search, parts.now())
  const vector = await vectorOf(parts.embedder, query)
  const corpora = [...new Set([project, ...(parts.shared === null ? [] : [parts.shared])])]
  const searches = corpora.map(async (corpus) => {
    const one = {
      ...{ project: corpus, corpus: corpus === project ? ('project' as const) : ('shared' as const), text: query },
      ...{ vector: vectorText(vector), embedder: vector === null ? null : (parts.embedder?.id ?? null) },
      ...{ limit, filter, diverse: domain === undefined, explain: search.explain === true, now: parts.now() },
      isExact: parts.indexes.hasRecent(corpus),
    }
    return parts.placed.run(placedSearch(parts.indexes, one, signal))
  })
  const first = Promise.any(searches)
  const soon = searches.map((each) => Promise.race([each, first.then(() => within(parts.clock, laterMs, each))]))
  const searched = await Promise.allSettled(soon)
  const found = searched.filter((each) => each.status === 'fulfilled')
  const failed = searched.filter((each) => each.status === 'rejected').map(({ reason }): unknown => reason)
  const defect = failed.find((reason) => !(reason instanceof StoreUnavailable))
  if (defect !== undefined || found.length === 0) throw defect ?? failed[0]
  const all = found.flatMap(({ value }) => value).toSorted((a, b) => b.score - a.score)
  const results = withoutTwins(all).slice(0, limit)
  const ranking = vector === null ? `${engine}:lexical` : `${engine}:hybrid+${parts.embedder?.id ?? ''}`
  const only = searched[0]?.status === 'fulfilled' ? 'project' : 'shared'
  const searchEngine = failed.length === 0 ? ranking : `${ranking}:${only}-only`
  return { query, count: results.length, searchEngine, results, untrusted: true }
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

const withoutTwins = (results: readonly PageResult[]): readonly PageResult[] => {
  const seen = new Set<string>()
  return results.filter(({ contentHash }) => !seen.has(contentHash) && seen.add(contentHash) !== undefined)
}
