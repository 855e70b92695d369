import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  advancedCrawl,
  type CrawlPlan,
  type CrawlState,
  isFinished,
  outOfTime,
  pauseOf,
  startedCrawl,
} from '#actors/web/crawl/crawl-site.ts'
import { HostTurns } from '#actors/web/crawl/host-turns.ts'
import { postponedHosts } from '#actors/web/crawl/postponed-pages.ts'
import { PageReader } from '#actors/web/extract/page-reader.ts'
import { PageFetcher } from '#actors/web/fetch/page-fetcher.ts'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore, type WebPageRow } from '#actors/web/store/page-store.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { pause, systemClock } from '#runtime/clock.ts'
import { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import { LocalTurns } from '#storage/local-turns.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { html, Site, type SitePage, to } from '#test/support/site.ts'

describe('a crawl', () => {
  let site: Site
  let guard: SsrfGuard
  const parsers = new PageParsers()
  const { signal } = new AbortController()

  beforeAll(async () => {
    site = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host] })
  })
  afterAll(async () => {
    await parsers.close()
    await guard.close()
    await site.close()
  })

  const parts = async (now: () => number = Date.now, guarded = guard) => {
    const { records, blobs } = openMemoryStorage({ now })
    await records.prepare(webKinds)
    const fetcher = new PageFetcher({ guard: guarded, clock: systemClock })
    const reader = new PageReader({ pages: fetcher, parsers })
    return {
      fetcher,
      reader,
      store: new PageStore(records, blobs, { now }),
      embedder: null,
      indexed: () => {},
      removed: (_row: WebPageRow) => {},
      changed: async () => {},
      now,
    }
  }
  const plan = (more: Partial<CrawlPlan> = {}): CrawlPlan => ({
    ...{
      project: 'prj_a',
      job: 'crw_a',
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

  const whole = async (crawl: CrawlPlan, given?: Awaited<ReturnType<typeof parts>>): Promise<CrawlState> => {
    const made = given ?? (await parts())
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

  describe('of a page that its site no longer has', () => {
    const [minuteMs, hourMs] = [60_000, 60 * 60_000]
    /** Crawls a page that exists, then at each of these times its answers; returns whether it is stored after each. */
    const storedAfter = async (...answers: readonly (readonly [afterMs: number, page: SitePage])[]) => {
      let now = Date.now()
      const made = { ...(await parts(() => now)), removed: (row: WebPageRow) => void removed.push(row.data.url) }
      const removed: string[] = []
      site.pages.clear()
      site.pages.set('/p', html(text('p'), { etag: '"p"' }))
      const only = plan({ seeds: [site.url('/p')], maxPages: 1 })
      await whole(only, made)
      const stored: boolean[] = []
      for (const [afterMs, page] of answers) {
        now += afterMs
        site.pages.set('/p', page)
        await whole(only, made)
        stored.push((await made.store.find('prj_a', site.url('/p'))) !== null)
      }
      return { stored, removed }
    }

    it('removes it at once when it is gone for good', async () => {
      expect(await storedAfter([minuteMs, { status: 410 }])).toEqual({ stored: [false], removed: [site.url('/p')] })
    })

    it('removes it at the second crawl that does not find it, an hour later or more', async () => {
      const missing = { status: 404 }
      expect((await storedAfter([minuteMs, missing], [hourMs - 1, missing], [1, missing])).stored).toEqual([
        true,
        true,
        false,
      ])
    })

    it.each([
      ['found', html(text('again'))],
      ['found unchanged', { status: 304 }],
    ])('begins anew when it was %s in between', async (_, page) => {
      const missing = { status: 404 }
      const { stored } = await storedAfter([minuteMs, missing], [hourMs, page], [hourMs, missing], [hourMs, missing])
      expect(stored).toEqual([true, true, true, false])
    })

    it('keeps it while its site fails otherwise', async () => {
      const answers = [500, 403, 401].flatMap((status) => [
        [2 * hourMs, { status }] as const,
        [hourMs, { status }] as const,
      ])
      expect(new Set((await storedAfter(...answers)).stored)).toEqual(new Set([true]))
    })

    it('removes it where it redirects to a page that is gone', async () => {
      const made = await parts()
      site.pages.clear()
      site.pages.set('/p', html(text('p')))
      site.pages.set('/q', html(text('q')))
      const crawled = plan({ seeds: [site.url('/p'), site.url('/q')], maxPages: 2 })
      await whole(crawled, made)
      site.pages.set('/p', to('/q'))
      site.pages.set('/q', { status: 410 })
      await whole(plan({ seeds: [site.url('/p')], maxPages: 1 }), made)
      const found = [await made.store.find('prj_a', site.url('/p')), await made.store.find('prj_a', site.url('/q'))]
      expect(found).toEqual([null, null])
    })
  })

  it('makes the pages known that it stored before the store failed', async () => {
    const made = await parts()
    site.pages.clear()
    for (const path of ['/a', '/b']) site.pages.set(path, html(text(path)))
    const known: string[] = []
    const failing = {
      ...made,
      changed: async (project: string) => void known.push(project),
      indexed: ({ data }: WebPageRow) => {
        if (data.url === site.url('/b')) throw new StoreUnavailable('away')
      },
    }
    const crawled = plan({ seeds: [site.url('/a'), site.url('/b')] })
    const state = await startedCrawl(failing, crawled, signal)
    await expect(advancedCrawl(failing, crawled, { state, signal })).rejects.toThrow(StoreUnavailable)
    expect(known).toEqual(['prj_a'])
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

  it('keeps a page that has moved only under its new address, with or without changes', async () => {
    site.pages.clear()
    const made = await parts()
    const kept = async () => {
      const rows = []
      for await (const { data } of made.store.all('prj_a')) rows.push(data.canonical_url)
      return rows.toSorted()
    }
    site.pages.set('/', html(text('a') + links(0, 2)))
    for (const n of [0, 1]) site.pages.set(`/p${n}`, html(text(`n${n}`)))
    await whole(plan(), made)
    expect(await kept()).toEqual([site.url('/'), site.url('/p0'), site.url('/p1')])
    site.pages.set('/new0', html(text('n0')))
    site.pages.set('/new1', html(text('changed')))
    for (const n of [0, 1]) site.pages.set(`/p${n}`, { status: 301, headers: { location: `/new${n}` } })
    await whole(plan(), made)
    expect(await kept()).toEqual([site.url('/'), site.url('/new0'), site.url('/new1')])
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

  describe('of a site that requests a pause', () => {
    const host = async (pace = { atOnce: 2, delayMs: 0 }) => {
      const made = await parts()
      const turns = new HostTurns({
        ...{ clock: systemClock, turns: new LocalTurns(systemClock), pace },
        robots: made.fetcher.robots,
      })
      return { ...made, turns }
    }
    const crawled = async (crawl: CrawlPlan, made: Awaited<ReturnType<typeof host>>) => {
      const pauses: number[] = []
      let state = await startedCrawl(made, crawl, signal)
      while (!isFinished(state, crawl)) {
        const pauseMs = pauseOf(state, Date.now())
        if (pauseMs > 0) pauses.push(pauseMs)
        if (pauseMs > 20_000) return { state, pauses }
        await pause(systemClock, pauseMs)
        state = await advancedCrawl(made, crawl, { state, signal })
      }
      return { state, pauses }
    }
    /** Answers with a status for the first `times` requests, and then with a page. */
    const busy = (status: number, headers: Readonly<Record<string, string>>, times = 1): SitePage => {
      let requested = 0
      return {
        answer: (response) => {
          requested += 1
          const page = html(text('busy'))
          if (requested <= times) response.writeHead(status, headers).end('<p>busy')
          else response.writeHead(200, page.headers).end(page.body)
        },
      }
    }

    it.each<readonly [number, string]>([
      [429, '1'],
      [503, '1'],
      [429, 'date'],
    ])('waits for %i with Retry-After: %s, and reads all pages', async (status, requested) => {
      site.pages.clear()
      site.requested.length = 0
      const value = requested === 'date' ? new Date(Date.now() + 2_000).toUTCString() : requested
      site.pages.set('/', html(text('a') + links(0, 3)))
      for (let n = 0; n < 3; n += 1) site.pages.set(`/p${n}`, html(text(`n${n}`)))
      site.pages.set('/p1', busy(status, { 'retry-after': value }))
      const { state, pauses } = await crawled(plan(), await host())
      expect(state.pages.map((page) => page.status)).toEqual(['indexed', 'indexed', 'indexed', 'indexed'])
      expect(pauses.length).toBeGreaterThan(0)
      expect(site.paths().filter((path) => path === '/p1')).toHaveLength(2)
    })

    it.each(['1000000000', '-5', 'tomorrow', '', '9'.repeat(1_000), 'Sun, 06 Nov 1994 08:49:37 GMT'])(
      'ends if each answer is 429 with Retry-After: %s',
      async (value) => {
        site.pages.clear()
        site.requested.length = 0
        site.pages.set('/', html(text('a') + links(0, 2)))
        for (let n = 0; n < 2; n += 1) site.pages.set(`/p${n}`, busy(429, { 'retry-after': value }, 1_000))
        const made = await host()
        let state = await startedCrawl(made, plan(), signal)
        // time passes at once
        let passed = 0
        const quick = {
          ...made,
          now: () => Date.now() + passed,
          turns: { enter: made.turns.enter.bind(made.turns), postpone: async () => {} },
        }
        for (let rounds = 0; !isFinished(state, plan()); rounds += 1) {
          expect(rounds).toBeLessThan(40)
          passed += pauseOf(state, quick.now())
          state = await advancedCrawl(quick, plan(), { state, signal })
        }
        expect(state.pages.map(({ status, reason }) => reason ?? status)).toEqual(['indexed', 'site_busy', 'site_busy'])
        expect(passed).toBeLessThan(35 * 60_000)
        expect(site.requested.length).toBeLessThan(15)
      },
    )

    it('skips the pages of a site that fails to deliver its robots.txt, with the reason, and reads those of others', async () => {
      site.pages.clear()
      const failing = await Site.open({ '/robots.txt': { status: 503 }, '/': html(text('f')) })
      const open = openSsrfGuard({ allowedPrivateHosts: [site.host, failing.host] })
      site.pages.set('/', html(text('a')))
      const made = await parts(Date.now, open)
      const crawl = plan({ seeds: [site.url('/'), failing.url('/')] })
      let state = await startedCrawl(made, crawl, signal)
      state = await advancedCrawl(made, crawl, { state, signal })
      expect(state.pages.map(({ url }) => url)).toEqual([site.url('/')])
      expect(postponedHosts(state.waiting)).toMatchObject([
        { host: failing.host, reason: 'robots_unreachable', pages: 1 },
      ])
      expect(outOfTime(state, crawl).pages.at(-1)).toMatchObject({ status: 'skipped', reason: 'robots_unreachable' })
      await open.close()
      await failing.close()
    })
  })

  it.each(['no-store', 'private, max-age=0'])('does not index a page with Cache-Control: %s', async (value) => {
    site.pages.clear()
    site.pages.set('/', html(text('secret'), { 'cache-control': value }))
    const { pages } = await whole(plan())
    expect(pages).toMatchObject([{ status: 'skipped', reason: value.startsWith('no') ? 'no_store' : 'private' }])
  })

  it.each([{ 'cache-control': 'no-store' }, { 'x-robots-tag': 'noindex' }])(
    'removes an indexed page that its site now sends with %j',
    async (headers) => {
      site.pages.clear()
      site.pages.set('/', html(text('open')))
      const made = await parts()
      await whole(plan(), made)
      expect(await made.store.find('prj_a', site.url('/'))).not.toBeNull()
      site.pages.set('/', html(text('open'), headers))
      await whole(plan(), made)
      expect(await made.store.find('prj_a', site.url('/'))).toBeNull()
    },
  )
})
