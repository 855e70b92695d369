import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import { contextOf, type EffectCatalog, type EffectOutcome, type IdempotentEffect } from '#runtime/index.ts'
import { type EraseParts, eraseActor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { advancedCrawl, startedCrawl } from './crawl-site.ts'
import type { IndexingParts } from './index-page.ts'
import type { FetchedSite } from './sitemap-urls.ts'

/** Dependencies of background crawls. */
export type CrawlJobParts = IndexingParts & FetchedSite

/** Reads the next batch of a crawl. Running again after a crash finds the pages that were already stored unchanged. */
const crawlPages = (parts: CrawlJobParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const { request, progress } = contextOf(webCrawlDefinition, context)
    const { signal, owner } = context
    const plan = { ...request, project: owner.project, job: context.actor }
    try {
      const state = progress ?? (await startedCrawl(parts, plan, signal))
      return {
        event: { type: 'advanced', progress: await advancedCrawl(parts, plan, { state, signal }), at: parts.now() },
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { code, message } = error
      return { event: { type: 'crawl_failed', error: { code, message }, at: parts.now() } }
    }
  },
})

/** Effects of the crawl machine, by `<machine>.<name>`. */
export const crawlEffects = (parts: CrawlJobParts & EraseParts): EffectCatalog => ({
  'web_crawl.crawlPages': crawlPages(parts),
  'web_crawl.eraseWebCrawl': eraseActor(parts),
})
