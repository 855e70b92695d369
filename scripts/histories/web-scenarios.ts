import { crawlRetentionMs } from '#machines/web-crawl/web-crawl.ts'
import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { crawlPauseMs, crawlSeeds } from '#test/actors/web/scripted-crawls.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000

const crawl = async ({ host, clock }: World, seed = 'https://site.example/'): Promise<string> => {
  const id = newId('crw')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const request = { seeds: [seed], maxPages: 3, maxDepth: 1, sameOrigin: true, sitemap: false, maxAge: 0 }
  await host.create({ kind: webCrawlDefinition, id, owner, input: { crawl_id: id, request }, cause: newId('req') })
  await calm()
  return id
}

/** Together, these reach every state of a crawl. */
export const webScenarios: readonly Scenario[] = [
  {
    name: 'crawls',
    scripts: [],
    play: async (world, clock) => {
      await crawl(world)
      await crawl(world, crawlSeeds.fails)
      await crawl(world, crawlSeeds.busy)
      const paused = await crawl(world, crawlSeeds.busy)
      await world.host.deliver(paused, { event: { type: 'cancel', at: clock.now() }, cause: newId('req') })
      await clock.advance(crawlPauseMs)
      const cancelled = await crawl(world, crawlSeeds.endless)
      const removed = await crawl(world, crawlSeeds.endless)
      await world.host.deliver(cancelled, { event: { type: 'cancel', at: clock.now() }, cause: newId('req') })
      await world.host.deliver(removed, { event: { type: 'delete' }, cause: newId('req') })
      await calm()
      await clock.leap(crawlRetentionMs)
      await clock.advance(pollMs)
    },
  },
]
