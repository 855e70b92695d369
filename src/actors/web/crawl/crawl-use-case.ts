import type { UseCases } from '#actors/call/use-cases.ts'
import { type Clock, newId, pause } from '#runtime/index.ts'
import { pageUrlOf } from '#src/pages/page-url.ts'
import { faultRefusal } from '../fetch/page-refusal.ts'
import { advancedCrawl, type CrawlState, isFinished, outOfTime, pauseOf, startedCrawl } from './crawl-site.ts'
import type { IndexingParts } from './index-page.ts'
import type { FetchedSite } from './sitemap-urls.ts'

/** Maximum duration of a crawl within a request, in ms. */
const wholeMs = 55_000

/** Maximum time in ms that a crawl within a request waits for sites that request a pause. */
const patienceMs = 10_000

/** Crawls that complete within their request. */
export const crawlUseCase =
  (parts: IndexingParts & FetchedSite & { readonly clock: Clock }): UseCases['web.crawl'] =>
  async ({ scope, body, signal }) => {
    requirePages('seeds', body.seeds)
    const { clock } = parts
    const until = clock.steady() + wholeMs
    const plan = { ...body, project: scope.project, job: newId('req'), paceUntil: until }
    let state = await startedCrawl(parts, plan, signal)
    while (!isFinished(state, plan)) {
      const pauseMs = pauseOf(state, clock.now())
      if (pauseMs > patienceMs || clock.steady() + pauseMs >= until) break
      if (pauseMs > 0) await pause(clock, pauseMs, signal)
      signal.throwIfAborted()
      state = await advancedCrawl(parts, plan, { state, signal })
    }
    return crawlView(isFinished(state, plan) ? state : outOfTime(state, plan))
  }

/** Validates the URLs of a field. @throws {ServiceError} `invalid_url`, `unsafe_url` for one that is not that of a page */
export const requirePages = (field: string, urls: readonly string[]): void => {
  for (const [place, text] of urls.entries()) {
    const url = pageUrlOf(text)
    if (typeof url === 'string') throw faultRefusal(url, text, `${field}[${place}]`)
  }
}

/** Returns the outcome of a crawl as the API returns it. */
export const crawlView = ({ pages, discovered }: CrawlState) => {
  const count = (status: string): number => pages.filter((page) => page.status === status).length
  return { pages, indexed: count('indexed'), skipped: count('skipped'), failed: count('failed'), discovered }
}
