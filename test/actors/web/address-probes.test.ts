import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { crawlUseCase } from '#actors/web/crawl/crawl-use-case.ts'
import { extractUseCase } from '#actors/web/extract/extract-use-case.ts'
import { PageReader } from '#actors/web/extract/page-reader.ts'
import { fetchUseCase } from '#actors/web/fetch/fetch-use-case.ts'
import { PageFetcher } from '#actors/web/fetch/page-fetcher.ts'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { systemClock } from '#runtime/clock.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { callOf } from '#test/support/call-of.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { openPrivateNames, privateAddresses } from '#test/support/private-addresses.ts'
import { html, Site, to } from '#test/support/site.ts'

describe('private addresses', () => {
  let canary: Server
  let reached = 0
  let site: Site
  let guard: SsrfGuard
  let probes: readonly string[] = []
  let routes: Readonly<Record<string, (url: string) => Promise<unknown>>> = {}
  const parsers = new PageParsers()
  const names = openPrivateNames()

  beforeAll(async () => {
    canary = createServer((_request, response) => {
      reached += 1
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>words of the canary')
    })
    canary.on('connection', () => {
      reached += 1
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const address = canary.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    probes = privateAddresses(port)
    site = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host], lookup: names.lookup })
    const { records, blobs } = openMemoryStorage({ now: Date.now })
    await records.prepare(webKinds)
    const fetcher = () => new PageFetcher({ guard, clock: systemClock })
    const call = <Body>(body: Body) => callOf({}, {}, body)
    const one = { maxBytes: 100_000, timeoutMs: 30_000, render: false }
    const reading = () => new PageReader({ pages: fetcher(), parsers })
    const crawl = { render: false, maxPages: 4, maxDepth: 1, sameOrigin: false, sitemap: false, maxAge: 0 }
    const crawled = async (seed: string, sitemap = false): Promise<unknown> => {
      const pages = fetcher()
      const reader = new PageReader({ pages, parsers })
      const parts = {
        fetcher: pages,
        reader,
        store: new PageStore(records, blobs, { now: Date.now }),
        embedder: null,
        indexed: () => {},
        removed: () => {},
        changed: async () => {},
        now: Date.now,
        clock: systemClock,
      }
      const answer = await crawlUseCase(parts)(call({ ...crawl, sitemap, seeds: [seed] }))
      return answer
    }
    const place = (url: string): string => url.replace(/\s/g, '')
    routes = {
      fetch: (url) => fetchUseCase(reading())(call({ ...one, url })),
      extract: (url) =>
        extractUseCase(new PageReader({ pages: fetcher(), parsers }))(call({ ...one, format: 'text' as const, url })),
      'a seed of a crawl': (url) => crawled(url),
      'a redirect of fetch': (url) => {
        site.pages.set('/', to(encodeLocation(url)))
        return fetchUseCase(reading())(call({ ...one, url: site.url('/') }))
      },
      'a redirect of robots.txt': (url) => {
        site.pages.set('/robots.txt', to(encodeLocation(url)))
        return fetchUseCase(reading())(call({ ...one, url: site.url('/') }))
      },
      'a sitemap of a crawl': (url) => {
        site.pages.set('/robots.txt', { body: `Sitemap: ${place(url)}` })
        return crawled(site.url('/'), true)
      },
      'a page of a sitemap': (url) => {
        site.pages.set('/sitemap.xml', {
          headers: { 'content-type': 'text/xml' },
          body: `<urlset><loc>${place(url).replaceAll('&', '&amp;')}</loc></urlset>`,
        })
        return crawled(site.url('/'), true)
      },
      'a link of a crawl': (url) => {
        site.pages.set('/', html(`<p>hello there</p><a href="${url.replaceAll('"', '%22')}">x</a>`))
        return crawled(site.url('/'))
      },
    }
  })
  beforeEach(() => {
    site.pages.clear()
    site.pages.set('/', html('<p>hello there</p>'))
    reached = 0
    names.again()
  })
  afterAll(async () => {
    await parsers.close()
    await guard.close()
    await site.close()
    await new Promise((resolve) => canary.close(resolve))
  })

  const encodeLocation = (url: string): string =>
    encodeURI(url.trim()).replaceAll('%25', '%').replaceAll('%5B', '[').replaceAll('%5D', ']')
  const outcomeOf = async (run: () => Promise<unknown>): Promise<string> => {
    try {
      return JSON.stringify(await run())
    } catch (error) {
      if (error instanceof ServiceError) return error.code
      throw error
    }
  }

  it('include at least 150 probes', () => {
    expect(new Set(probes).size).toBeGreaterThanOrEqual(150)
  })

  it.each([
    'fetch',
    'extract',
    'a seed of a crawl',
    'a redirect of fetch',
    'a redirect of robots.txt',
    'a sitemap of a crawl',
    'a page of a sitemap',
    'a link of a crawl',
  ])(
    'are reached by no request through %s, which does reach a public page',
    async (name) => {
      const route = routes[name] ?? (() => Promise.reject(new Error(name)))
      for (const probe of drawnOf(probes, 3)) {
        const outcome = await outcomeOf(() => route(probe))
        expect(`${probe} ${outcome.includes('words of the canary')} ${reached}`).toBe(`${probe} false 0`)
        site.pages.delete('/robots.txt')
      }
      site.pages.set('/control', html('<p>control page</p>'))
      site.pages.set('/', html('<p>hello there</p>'))
      site.requested.length = 0
      await route(site.url('/control'))
      expect(site.paths()).toContain('/control')
    },
    60_000,
  )
})
