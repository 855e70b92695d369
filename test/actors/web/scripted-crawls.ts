import type { CrawlProgress } from '#machines/web-crawl/web-crawl.ts'
import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import type { Clock } from '#runtime/clock.ts'
import type { EffectCatalog } from '#runtime/effects/effects.ts'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { contextOf } from '#runtime/schema.ts'
import type { Storage } from '#storage/ports.ts'

/** Seeds whose crawl does not read one page per batch, or pauses after the first. */
export const crawlSeeds = {
  fails: 'https://fails.example/',
  endless: 'https://endless.example/',
  busy: 'https://busy.example/',
} as const

/** Pause in ms that the busy seed requests. */
export const crawlPauseMs = 5_000

/** Effects of crawls without a network, for simulations in virtual time: one page per batch. */
export const scriptedCrawls = ({
  storage,
  clock,
}: {
  readonly storage: Storage
  readonly clock: Clock
}): EffectCatalog => ({
  'web_crawl.crawlPages': {
    policy: 'idempotent',
    run: async (_params, context) => {
      const { request, progress } = contextOf(webCrawlDefinition, context)
      const [seed = ''] = request.seeds
      const at = clock.now()
      if (seed === crawlSeeds.fails)
        return { event: { type: 'crawl_failed', error: { code: 'invalid_url', message: 'It is none.' }, at } }
      if (seed === crawlSeeds.endless)
        await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }))
      const pages: CrawlProgress['pages'] = [
        ...(progress?.pages ?? []),
        { url: `${seed}${progress?.pages.length ?? 0}`, status: 'indexed', change: 'new', depth: 0 },
      ]
      // the site requests a pause once
      const isBusy = seed === crawlSeeds.busy && progress === null
      const postponed = { reason: 'site_busy', tries: 1, since_ms: at, until_ms: at + crawlPauseMs } as const
      return {
        event: {
          type: 'advanced',
          progress: {
            waiting: [{ url: seed, depth: 1, ...(isBusy && { postponed }) }],
            pages,
            discovered: pages.length,
          },
          at,
        },
      }
    },
  },
  'web_crawl.eraseWebCrawl': eraseActor({ storage, clock }),
})
