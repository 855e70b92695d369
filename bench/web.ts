import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/actors/runtime/clock.ts'
import { advancedCrawl, isFinished, startedCrawl } from '../src/actors/web/crawl/crawl-site.ts'
import { PageReader } from '../src/actors/web/extract/page-reader.ts'
import { PageFetcher } from '../src/actors/web/fetch/page-fetcher.ts'
import { webKinds } from '../src/actors/web/kinds.ts'
import { PageStore } from '../src/actors/web/store/page-store.ts'
import { openSsrfGuard } from '../src/outgoing/ssrf-guard.ts'
import { PageParsers } from '../src/parsing/pages/page-parsers.ts'
import { PageIndex } from '../src/retrieval/pages/page-index.ts'
import { openMemoryStorage } from '../test/support/memory/open-memory-storage.ts'
import { html, Site } from '../test/support/site.ts'
import { sized } from './extent.ts'
import type { Row } from './row.ts'
import { articleRows, chunkRows } from './web/main-text.ts'
import { searchQualityRows } from './web/search-quality.ts'

/**
 * Measures main-text extraction on public sets of articles below the folder (`article-extraction-benchmark`, and
 * `trafilatura` with its `evaldata.json`, `cache` and `eval`), and searches on public sets of questions (`cranfield`,
 * `npl`, `django`). Also measures the pages per second of a crawl of a local site, and the time of a search.
 */
export async function benchWeb(folder: string | null): Promise<readonly Row[]> {
  const rows: Row[] = [...(await crawlRows()), ...(await searchRows())]
  if (folder !== null) rows.push(...(await searchQualityRows(folder)))
  const [articles, chunks] = ['article-extraction-benchmark', 'trafilatura'].map((name) => join(folder ?? '', name))
  if (folder === null || articles === undefined || chunks === undefined) return rows
  if (existsSync(articles)) rows.push(...(await articleRows(articles)))
  if (existsSync(chunks)) rows.push(...(await chunkRows(chunks)))
  return rows
}

async function crawlRows(): Promise<readonly Row[]> {
  const count = sized(200, 20)
  const site = await Site.open()
  const links = Array.from({ length: count }, (_, n) => `<a href="/p${n}">Page ${n}</a>`).join(' ')
  site.pages.set('/', html(`<p>The first page.</p>${links}`))
  for (let n = 0; n < count; n += 1)
    site.pages.set(`/p${n}`, html(`<main>${`<p>${sentence(n)}</p>`.repeat(12)}</main>`))
  const guard = openSsrfGuard({ allowedPrivateHosts: [site.host] })
  const parsers = new PageParsers()
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare(webKinds)
  const fetcher = new PageFetcher({ guard, clock: systemClock })
  const reader = new PageReader({ pages: fetcher, parsers })
  const parts = {
    fetcher,
    reader,
    store: new PageStore(records, blobs, { now: Date.now }),
    embedder: null,
    indexed: () => {},
    removed: () => {},
    changed: async () => {},
    now: Date.now,
  }
  const plan = {
    project: 'prj_a',
    job: 'crw_a',
    seeds: [site.url('/')],
    maxDepth: 1,
    sameOrigin: true,
    sitemap: false,
    maxAge: 0,
  }
  const { signal } = new AbortController()
  const crawl = async (maxPages: number): Promise<number> => {
    const whole = { ...plan, maxPages }
    let state = await startedCrawl(parts, whole, signal)
    while (!isFinished(state, whole)) state = await advancedCrawl(parts, whole, { state, signal })
    return state.pages.length
  }
  // the first crawl also starts the workers, which is not measured
  await crawl(count)
  const from = performance.now()
  const pages = await crawl(count)
  const seconds = (performance.now() - from) / 1000
  await Promise.all([parsers.close(), guard.close(), site.close()])
  return [
    { measure: 'crawl of a local site', unit: 'pages/s', ours: pages / seconds, bound: { of: 'ours', atLeast: 100 } },
  ]
}

async function searchRows(): Promise<readonly Row[]> {
  const count = sized(13_400, 200)
  const index = new PageIndex()
  for (let n = 0; n < count; n += 1) {
    const text = Array.from({ length: 8 }, (_, k) => sentence(n * 8 + k)).join(' ')
    const passages = [{ start: 0, end: text.length, heading: null, vector: null }]
    const times = { publishedAt: null, firstSeenAt: 0, retrievedAt: 0 }
    const page = {
      id: `p${n}`,
      url: `https://h${n % 900}.example/${n}`,
      title: sentence(n).slice(0, 40),
      description: '',
      links: [],
    }
    index.add({ ...page, ...times, text, passages, contentHash: `${n}` })
  }
  const times: number[] = []
  for (let n = 0; n < sized(200, 10); n += 1) {
    const from = performance.now()
    const query = {
      text: sentence(n * 37)
        .split(' ')
        .slice(3, 9)
        .join(' '),
      vector: null,
      embedder: null,
      limit: 10,
    }
    await index.search({ ...query, accepts: null, diverse: true, now: 0 })
    times.push(performance.now() - from)
  }
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
  return [{ measure: `search of ${count} pages, p99`, unit: 'ms', ours: p99, bound: { of: 'ours', atMost: 150 } }]
}

const words = Array.from(
  { length: 4_000 },
  (_, n) => `${'bcdfglmnprst'[n % 12]}${'aeiou'[n % 5]}${'bdklmrst'[n % 8]}${'aeiou'[(n >> 3) % 5]}${n.toString(36)}`,
)

/** Returns a sentence of generated words, the same for the same number; some words are frequent. */
const sentence = (n: number): string => {
  const said = Array.from(
    { length: 14 },
    (_, k) => words[Math.floor(((n * 7919 + k * 104_729) % 4_000) ** 2 / 4_000)] ?? '',
  )
  return `The ${said.join(' ')}.`
}
