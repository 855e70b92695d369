import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  advancedCrawl,
  type CrawlPlan,
  type CrawlState,
  isFinished,
  outOfTime,
  startedCrawl,
} from '#actors/web/crawl/crawl-site.ts'
import { PageReader } from '#actors/web/extract/page-reader.ts'
import { PageFetcher } from '#actors/web/fetch/page-fetcher.ts'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { PageRooms } from '#src/parsing/pages/page-rooms.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { html, Site } from '#test/support/site.ts'

describe('a crawl', () => {
  let site: Site
  let guard: SsrfGuard
  const rooms = new PageRooms()
  const { signal } = new AbortController()

  beforeAll(async () => {
    site = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host] })
  })
  afterAll(async () => {
    await rooms.close()
    await guard.close()
    await site.close()
  })

  const parts = async () => {
    const { records } = openMemoryStorage({ now: Date.now })
    await records.prepare(webKinds)
    const fetcher = new PageFetcher(guard, Date.now)
    const reader = new PageReader({ pages: fetcher, rooms, steady: () => performance.now() })
    return {
      fetcher,
      reader,
      store: new PageStore(records, Date.now),
      embedder: null,
      indexed: () => {},
      now: Date.now,
    }
  }
  const plan = (more: Partial<CrawlPlan> = {}): CrawlPlan => ({
    ...{
      project: 'prj_a',
      seeds: [site.url('/')],
      maxPages: 25,
      maxDepth: 3,
      sameOrigin: true,
      sitemap: false,
      maxAge: 0,
    },
    ...more,
  })
  const links = (from: number, count: number): string =>
    Array.from({ length: count }, (_, n) => `<a href="/p${from + n}">Page ${from + n}</a>`).join(' ')
  const text = (n: number | string): string => `<p>Page ${n} has words of its own: ${'word '.repeat(20)}${n}.</p>`

  const whole = async (crawl: CrawlPlan): Promise<CrawlState> => {
    const made = await parts()
    let state = await startedCrawl(made, crawl, signal)
    while (!isFinished(state, crawl)) state = await advancedCrawl(made, crawl, { state, signal })
    return state
  }

  it('keeps at most 5,000 URLs, and reads no more pages than allowed', async () => {
    for (let n = 0; n < 9; n += 1) site.pages.set(n === 0 ? '/' : `/p${n - 1}`, html(text(n) + links(n * 990, 990)))
    const state = await whole(plan({ maxPages: 9 }))
    expect(state.pages).toHaveLength(9)
    expect(state.waiting.length + state.pages.length).toBeLessThanOrEqual(5_000)
  })

  it('ends if its pages link in a circle, and reads each of them once', async () => {
    site.pages.clear()
    site.pages.set('/', html(`${text('a')}<a href="/p1#x">1</a><a href="/?utm_source=y">self</a>`))
    site.pages.set('/p1', html(`${text('b')}<a href="/">0</a><a href="/index.html">0</a>`))
    const state = await whole(plan())
    expect(state.pages.map(({ url }) => url)).toEqual([site.url('/'), site.url('/p1')])
  })

  it('reports pages that it had no time for as out_of_time', async () => {
    site.pages.clear()
    site.pages.set('/', html(text('a') + links(0, 5)))
    const made = await parts()
    const begin = await startedCrawl(made, plan({ maxPages: 4 }), signal)
    const state = outOfTime(
      await advancedCrawl(made, plan({ maxPages: 4 }), { state: begin, signal }),
      plan({ maxPages: 4 }),
    )
    expect(state.pages.map(({ reason }) => reason)).toEqual([undefined, 'out_of_time', 'out_of_time', 'out_of_time'])
  })

  it('continues from its saved state, and reads nothing twice', async () => {
    site.pages.clear()
    site.pages.set('/', html(text('a') + links(0, 12)))
    for (let n = 0; n < 12; n += 1) site.pages.set(`/p${n}`, html(text(`n${n}`)))
    site.requested.length = 0
    const made = await parts()
    let state = await startedCrawl(made, plan(), signal)
    while (!isFinished(state, plan()))
      state = await advancedCrawl(made, plan(), { state: JSON.parse(JSON.stringify(state)), signal })
    expect(state.pages).toHaveLength(13)
    expect(site.paths().filter((path) => path !== '/robots.txt')).toHaveLength(13)
  })

  it('embeds the first passage of a page with its title, and the others without', async () => {
    site.pages.clear()
    const paragraph = `<p>${'The pier is long and the sea is deep, and ships come to it. '.repeat(15)}</p>`
    site.pages.set('/', html(`<title>The harbour</title><main>${paragraph.repeat(4)}</main>`))
    const texts: string[] = []
    const embedder = {
      id: 'test/one',
      dimensions: 1,
      embed: async (passages: readonly string[]) => {
        texts.push(...passages)
        return passages.map(() => new Float32Array([1]))
      },
    }
    const made = { ...(await parts()), embedder }
    await advancedCrawl(made, plan(), { state: await startedCrawl(made, plan(), signal), signal })
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.map((passage) => passage.startsWith('The harbour\nThe pier'))).toEqual(texts.map((_, at) => at === 0))
  })
})
