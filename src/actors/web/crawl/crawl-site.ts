import { normalUrl, pageUrlOf } from '#src/pages/page-url.ts'
import { type CrawledPage, type IndexingParts, type PageOutcome, readToIndex } from './index-page.ts'
import { givenUp, isDue, type PostponedPage, postponedWith, type Waiting } from './postponed-pages.ts'
import { type FetchedSite, sitemapUrls } from './sitemap-urls.ts'

/** A crawl to perform. */
export interface CrawlPlan {
  readonly project: string
  /** Identifies the crawl: hosts serve crawls in rotation. */
  readonly job: string
  readonly seeds: readonly string[]
  readonly maxPages: number
  readonly maxDepth: number
  readonly sameOrigin: boolean
  readonly sitemap: boolean
  /** In seconds. */
  readonly maxAge: number
  /** Whether pages are rendered; absent: they are not. */
  readonly render?: boolean | 'auto'
  /** `steady` time until which pages may wait for the crawl delay of their sites; absent: without limit. */
  readonly paceUntil?: number
}

/** Progress of a crawl; plain data, so that it can be stored. */
export type CrawlState = {
  readonly waiting: readonly Waiting[]
  readonly pages: readonly CrawledPage[]
  /** Number of discovered URLs. */
  readonly discovered: number
}

/** Maximum number of URLs stored for one crawl. */
const maxKnown = 5_000
/** Number of pages that are read concurrently. */
const crawlWidth = 8

/** Returns the initial state of a crawl: its seeds, and the URLs of sitemaps if requested. @throws {ServiceError} */
export const startedCrawl = async (
  parts: IndexingParts & FetchedSite,
  plan: CrawlPlan,
  signal: AbortSignal,
): Promise<CrawlState> => {
  const seeds = plan.seeds.map((url) => ({ url: cleanUrl(url) ?? url, depth: 0 }))
  const named = plan.sitemap
    ? await sitemapUrls(
        parts,
        seeds.map(({ url }) => url),
        signal,
      )
    : []
  const waiting = distinct([...seeds, ...named.map((url) => ({ url, depth: 0 }))], new Set())
  return { waiting, pages: [], discovered: waiting.length }
}

/** Whether a crawl has read everything that its limits allow. */
export const isFinished = (state: CrawlState, { maxPages }: Pick<CrawlPlan, 'maxPages'>): boolean =>
  state.waiting.length === 0 || state.pages.length >= maxPages

/** Reads the next pages that are not postponed, and adds the URLs that they link to. */
export const advancedCrawl = async (
  parts: IndexingParts,
  plan: CrawlPlan,
  {
    state,
    signal,
    width = crawlWidth,
  }: { readonly state: CrawlState; readonly signal: AbortSignal; readonly width?: number },
): Promise<CrawlState> => {
  const free = Math.min(width, plan.maxPages - state.pages.length)
  const from = parts.now()
  const batch = state.waiting.filter((next) => isDue(next, from)).slice(0, free)
  const read = await Promise.all(batch.map((next) => readToIndex(parts, { ...plan, ...next, signal })))
  const outcomes: PageOutcome[] = []
  const postponed: PostponedPage[] = []
  try {
    for (const store of read) {
      const outcome = await store()
      if ('waiting' in outcome) postponed.push(outcome)
      else outcomes.push(outcome)
    }
  } finally {
    // also what was stored before a failure: the next attempt finds these pages unchanged
    if (outcomes.some(({ row }) => row !== null)) await parts.changed(plan.project)
  }
  const kept = stillWaiting(parts, { state, batch, postponed })
  const left = plan.maxPages - state.pages.length - outcomes.length
  const pages = withoutTwins([
    ...state.pages,
    ...outcomes.map(({ page }) => page),
    ...kept.givenUp.slice(0, Math.max(0, left)),
  ])
  const known = new Set([...pages, ...state.waiting].map(({ url }) => url))
  const origins = new Set(plan.seeds.map((url) => URL.parse(url)?.origin ?? ''))
  const found = outcomes.flatMap(({ page, links }) =>
    page.depth >= plan.maxDepth ? [] : links.map((url) => ({ url, depth: page.depth + 1 })),
  )
  const followed = found.filter(({ url }) => !plan.sameOrigin || origins.has(new URL(url).origin))
  const next = distinct(followed, known).slice(
    0,
    Math.max(0, Math.min(maxKnown, plan.maxPages * 10 + 100) - known.size),
  )
  return { waiting: [...kept.waiting, ...next], pages, discovered: state.discovered + next.length }
}

/** Returns the waiting URLs after a batch, and the outcomes of those that are not waited for any longer. */
const stillWaiting = (
  { now }: Pick<IndexingParts, 'now'>,
  {
    state,
    batch,
    postponed,
  }: {
    readonly state: CrawlState
    readonly batch: readonly Waiting[]
    readonly postponed: readonly PostponedPage[]
  },
): { readonly waiting: readonly Waiting[]; readonly givenUp: readonly CrawledPage[] } => {
  const read = new Set(batch)
  const rest = state.waiting.filter((each) => !read.has(each))
  const all = [...postponed.map(({ waiting }) => waiting), ...postponedWith(rest, postponed)]
  const at = now()
  const ended = all.map((each) => givenUp(each, at))
  return {
    waiting: all.filter((_, index) => ended[index] === null),
    givenUp: ended.filter((page) => page !== null),
  }
}

/** Returns the ms until a postponed page may be requested; 0 when one may be now, or none is waiting. */
export const pauseOf = ({ waiting }: CrawlState, now: number): number => {
  const times = waiting.map(({ postponed }) => postponed?.until_ms ?? now)
  return times.length === 0 ? 0 : Math.max(0, Math.min(...times) - now)
}

/** Ends a crawl whose time has run out. */
export const outOfTime = ({ waiting, pages, discovered }: CrawlState, { maxPages }: CrawlPlan): CrawlState => {
  const left = waiting.slice(0, Math.max(0, maxPages - pages.length))
  const skipped = left.map(({ url, depth, postponed }) => ({
    ...{ url, depth, status: 'skipped' as const },
    reason: postponed?.reason ?? 'out_of_time',
  }))
  return { waiting: [], pages: [...pages, ...skipped], discovered }
}

/**
 * Marks all but one of the pages with the same canonical URL as duplicates. As in the index, the canonical page itself
 * stays, whenever it was read, and before it was read the first page that names it.
 */
const withoutTwins = (pages: readonly CrawledPage[]): readonly CrawledPage[] => {
  const stays = new Map<string, CrawledPage>()
  for (const page of pages) {
    const name = page.canonicalUrl ?? page.url
    if (page.status === 'indexed' && (page.canonicalUrl === undefined || !stays.has(name))) stays.set(name, page)
  }
  return pages.map((page) => {
    if (page.status !== 'indexed' || stays.get(page.canonicalUrl ?? page.url) === page) return page
    const { change: _none, ...rest } = page
    return { ...rest, status: 'skipped', reason: 'duplicate' }
  })
}

const distinct = (found: readonly Waiting[], known: ReadonlySet<string>): readonly Waiting[] => {
  const seen = new Set(known)
  return found.flatMap(({ url, depth }) => {
    const clean = cleanUrl(url)
    if (clean === null || seen.has(clean)) return []
    seen.add(clean)
    return [{ url: clean, depth }]
  })
}

/** Returns the normalised URL of a page; null for a URL that is not a page's. */
const cleanUrl = (text: string): string | null => {
  const url = pageUrlOf(text)
  return typeof url === 'string' ? null : normalUrl(url)
}
