import { createServer, type Server } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { crawlUseCase } from '#actors/web/crawl/crawl-use-case.ts'
import { extractUseCase } from '#actors/web/extract/extract-use-case.ts'
import { PageReader } from '#actors/web/extract/page-reader.ts'
import { fetchUseCase } from '#actors/web/fetch/fetch-use-case.ts'
import { PageFetcher } from '#actors/web/fetch/page-fetcher.ts'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { PageRooms } from '#src/parsing/pages/page-rooms.ts'
import { callOf } from '#test/support/call-of.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { html, Site, to } from '#test/support/site.ts'

/** What names resolve to: each request of a name takes the next of its answers. */
const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  localhost: [['127.0.0.1'], ['::1']],
  'a.localhost': [['127.0.0.1']],
  'localhost.': [['127.0.0.1']],
  'private.example': [['10.0.0.5']],
  'loop.example': [['127.0.0.1']],
  'six.example': [['::1']],
  'local.example': [['fe80::1']],
  'unique.example': [['fd00::1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'metadata.example': [['169.254.169.254']],
  'azure.example': [['168.63.129.16']],
  'mixed.example': [['93.184.216.34', '127.0.0.1']],
  'mixed-six.example': [['2606:2800:220:1::1', '::1']],
  'rebinding.example': [['127.0.0.1'], ['93.184.216.34'], ['127.0.0.1']],
  'metadata.google.internal': [['169.254.169.254']],
  'xn--tst-qla.example': [['127.0.0.1']],
  'zero.example': [['0.0.0.0']],
  'nat.example': [['64:ff9b::7f00:1']],
  'multicast.example': [['224.0.0.1']],
  '127.0.0.1.nip.example': [['127.0.0.1']],
}

const v4 = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '198.18.0.1',
]
const number = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const forms = (ip: string): readonly string[] => {
  const parts = ip.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = parts
  const hex = (n: number): string => n.toString(16).padStart(2, '0')
  return [
    ip,
    `${ip}.`,
    `${number(ip)}`,
    `0x${number(ip).toString(16)}`,
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `0x${hex(part)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    ip.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ip.replaceAll('.', '\u3002'),
    `[::ffff:${ip}]`,
    `[::ffff:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}]`,
    `[64:ff9b::${ip}]`,
    `[2002:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}::1]`,
  ]
}
const hosts = [
  ...v4.flatMap(forms),
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[ff02::1]',
    '[::127.0.0.1]',
    '[fec0::1]',
  ],
  ...[
    '[2001:db8::1]',
    '[2001::1]',
    '[100::1]',
    '[::ffff:0:127.0.0.1]',
    '[5f00::1]',
    '168.63.129.16',
    '192.0.0.192',
    '203.0.113.1',
  ],
  ...[
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '0',
    '127.1',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '127。0。0。1',
  ],
  ...Object.keys(names),
]
const oddities = (port: number): readonly string[] => [
  `http://user@127.0.0.1:${port}/`,
  `http://user:pass@site.example/`,
  `http://127.0.0.1:${port}\\@site.example/`,
  `http://site.example@127.0.0.1:${port}/`,
  `http:/127.0.0.1:${port}/`,
  `http:\\\\127.0.0.1:${port}\\`,
  `http:127.0.0.1:${port}`,
  `HtTp://127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}#@site.example/`,
  `http://127.0.0.1:${port}?@site.example/`,
  `\thttp://127.0.0.1:${port}/`,
  `http://127.0.0.1\t:${port}/`,
  `http://127.0.0.1:${port}/%2e%2e/`,
  `http://site.example:22/`,
  `http://site.example:6379/`,
  `http://site.example:11211/`,
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:70/_x',
  'dict://127.0.0.1:11211/stat',
  'ldap://127.0.0.1/',
  'jar:http://127.0.0.1!/',
  'data:text/html,x',
  'blob:http://127.0.0.1/x',
  'javascript:fetch(1)',
  'view-source:http://127.0.0.1/',
  'ws://127.0.0.1/',
  'http://',
  'http://[::1',
  'http://[127.0.0.1]/',
  'http://127.0.0.1:99999/',
  'http://exa mple/',
  '//127.0.0.1/',
  '\\\\127.0.0.1\\share',
]

describe('addresses that lead to private places', () => {
  let canary: Server
  let reached = 0
  let site: Site
  let guard: SsrfGuard
  let probes: readonly string[] = []
  let routes: Readonly<Record<string, (url: string) => Promise<unknown>>> = {}
  const rooms = new PageRooms()
  const lookups = new Map<string, number>()

  const lookup: LookupFunction = (name, options, callback) => {
    const answers = names[name]
    const asked = lookups.get(name) ?? 0
    lookups.set(name, asked + 1)
    const found = answers?.[Math.min(asked, answers.length - 1)] ?? (isIP(name) === 0 ? undefined : [name])
    if (found === undefined) return callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), [])
    const all = found.map((address) => ({ address, family: isIP(address) }))
    if (options.all === true) callback(null, all)
    else callback(null, all[0]?.address ?? '', all[0]?.family)
  }

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
    probes = [
      ...hosts.map((host) => `http://${host}:${port}/`),
      ...hosts.slice(0, 30).map((host) => `https://${host}/`),
      ...oddities(port),
    ]
    site = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host], lookup })
    const { records } = openMemoryStorage({ now: Date.now })
    await records.prepare(webKinds)
    const steady = () => performance.now()
    const fetcher = () => new PageFetcher(guard, Date.now)
    const call = <Body>(body: Body) => callOf({}, {}, body)
    const one = { maxBytes: 100_000, timeoutMs: 5_000 }
    const crawl = { maxPages: 4, maxDepth: 1, sameOrigin: false, sitemap: false, maxAge: 0 }
    const crawled = async (seed: string, sitemap = false): Promise<unknown> => {
      const pages = fetcher()
      const reader = new PageReader({ pages, rooms, steady })
      const parts = {
        fetcher: pages,
        reader,
        store: new PageStore(records, Date.now),
        embedder: null,
        indexed: () => {},
        now: Date.now,
        steady,
      }
      const answer = await crawlUseCase(parts)(call({ ...crawl, sitemap, seeds: [seed] }))
      return answer
    }
    const place = (url: string): string => url.replace(/\s/g, '')
    routes = {
      fetch: (url) => fetchUseCase(fetcher())(call({ ...one, url })),
      extract: (url) =>
        extractUseCase(new PageReader({ pages: fetcher(), rooms, steady }))(
          call({ ...one, format: 'text' as const, url }),
        ),
      'a seed of a crawl': (url) => crawled(url),
      'a redirect of fetch': (url) => {
        site.pages.set('/', to(encodeLocation(url)))
        return fetchUseCase(fetcher())(call({ ...one, url: site.url('/') }))
      },
      'a redirect of robots.txt': (url) => {
        site.pages.set('/robots.txt', to(encodeLocation(url)))
        return fetchUseCase(fetcher())(call({ ...one, url: site.url('/') }))
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
    lookups.clear()
  })
  afterAll(async () => {
    await rooms.close()
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

  it('are 150 at least', () => {
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
      for (const probe of probes) {
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
