import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ForeignSearchParts, thirdPartySearch } from '#actors/web/engines/third-party-search.ts'
import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type SearchEngineSettings, searchEnginesOf } from '#specs/search-engines.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { Site, type SitePage } from '#test/support/site.ts'

const now = Date.UTC(2026, 0, 20)
const json = (body: unknown, status = 200) => ({
  ...{ status, headers: { 'content-type': 'application/json' } },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
/** A response of SearXNG (`format=json`). */
const searx = {
  query: 'harbour',
  results: [
    {
      title: 'Harbour',
      url: 'https://port.example/',
      content: 'Ships &amp; tides.',
      publishedDate: '2026-01-19T10:00:00',
      engine: 'x',
      score: 3,
    },
    {
      title: 'Old',
      url: 'https://old.example/harbour',
      content: 'Long ago.',
      publishedDate: '2019-05-01',
      engine: 'x',
    },
    { title: 'Docks', url: 'https://docks.port.example/a', content: 'Docks.', publishedDate: null },
    { title: 'Bad', url: 'javascript:alert(1)', content: 'x' },
    { title: 'Again', url: 'https://port.example/', content: 'x' },
    'no result',
  ],
}
/** A response of the search API of Brave. */
const brave = {
  type: 'search',
  web: {
    type: 'search',
    results: [
      {
        title: 'The <strong>harbour</strong>',
        url: 'https://port.example/',
        description: 'All about the <strong>harbour</strong>.<img src=x onerror=1>',
        page_age: '2026-01-18T00:00:00',
      },
    ],
  },
}

describe('a search with a third-party engine', () => {
  let site: Site
  let guard: SsrfGuard
  let store: PageStore
  let engines: readonly SearchEngineSettings[]

  beforeAll(async () => {
    site = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host] })
    const { records, blobs } = openMemoryStorage({ now: Date.now })
    await records.prepare(webKinds)
    store = new PageStore(records, blobs, { now: Date.now })
    const declared = [
      { name: 'searxng', shape: 'searxng', url: `${site.url('/searx')}?format=json&q={query}&language={language}` },
      {
        name: 'brave',
        shape: 'brave',
        url: `${site.url('/brave')}?q={query}&count={limit}`,
        headers: { 'X-Subscription-Token': 'secret-1' },
      },
      {
        name: 'own',
        url: `${site.url('/own')}?q={query}`,
        paths: { results: 'a.b', title: 't', url: 'u', snippet: 's' },
      },
      { name: 'private', shape: 'brave', url: 'http://127.0.0.1:9/?q={query}' },
    ]
    engines = searchEnginesOf(JSON.stringify(declared)) ?? []
    expect(engines).toHaveLength(4)
  })
  beforeEach(() => {
    site.pages.clear()
    site.requested.length = 0
    site.pages.set('/searx', json(searx))
    site.pages.set('/brave', json(brave))
    site.pages.set('/own', json({ a: { b: [{ t: 'T', u: 'https://own.example/', s: 'S' }] } }))
  })
  afterAll(async () => {
    await guard.close()
    await site.close()
  })

  const search = (engine: string, more: object = {}) => {
    const parts: ForeignSearchParts = { engines, guard, store, now: () => now }
    return thirdPartySearch(parts, { project: 'prj_1', query: 'harbour & tides', limit: 10, engine, ...more })
  }
  const urls = async (engine: string, more: object = {}) => (await search(engine, more)).results.map(({ url }) => url)
  const refusal = async (engine: string, more: object = {}) => {
    const error: unknown = await search(engine, more).catch((thrown: unknown) => thrown)
    if (!(error instanceof ServiceError)) throw error
    return [error.code, error.details.param ?? null, error.message]
  }

  it('reads results of SearXNG in their order, marked as untrusted, without entries that are not pages', async () => {
    const answer = await search('searxng', { language: 'en' })
    expect(answer).toMatchObject({ searchEngine: 'searxng', untrusted: true, count: 3, query: 'harbour & tides' })
    expect(answer.results[0]).toMatchObject({
      ...{ title: 'Harbour', url: 'https://port.example/', snippet: 'Ships & tides.', corpus: 'engine', score: 1 },
      ...{ publishedAt: expect.stringMatching(/^2026-01-19/), evidence: { quote: 'Ships & tides.' } },
      contentHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    })
    expect(answer.results.map(({ id }) => /^wpg_[0-9a-z]{26}$/.test(id))).toEqual([true, true, true])
    expect(site.paths()).toEqual(['/searx?format=json&q=harbour%20%26%20tides&language=en'])
  })

  it('reads results of Brave without their markup, and sends its key', async () => {
    const [result] = (await search('brave', { limit: 50 })).results
    expect(result).toMatchObject({ title: 'The harbour', snippet: 'All about the harbour.' })
    expect(site.paths()).toEqual(['/brave?q=harbour%20%26%20tides&count=20'])
    expect(site.requested[0]?.headers['x-subscription-token']).toBe('secret-1')
  })

  it('reads results of any engine whose fields are declared', async () => {
    expect((await search('own')).results).toMatchObject([{ title: 'T', url: 'https://own.example/', snippet: 'S' }])
  })

  it('filters by host and age, and leaves out pages that were taken down', async () => {
    expect(await urls('searxng', { domain: 'port.example' })).toEqual([
      'https://port.example/',
      'https://docks.port.example/a',
    ])
    expect(await urls('searxng', { freshness: '7d' })).toEqual(['https://port.example/'])
    expect(await urls('searxng', { limit: 1 })).toEqual(['https://port.example/'])
    await store.block('prj_1', 'https://port.example/', 'wtd_1')
    expect(await urls('searxng', { limit: 1 })).toEqual(['https://old.example/harbour'])
    expect(await urls('searxng', { limit: 1, project: 'prj_2' })).toEqual(['https://port.example/'])
  })

  it('cannot be led to another path or parameter by a query', async () => {
    await search('brave', { query: '../../x?q=1&count=9#{limit}' })
    expect(site.paths()).toEqual([`/brave?q=${encodeURIComponent('../../x?q=1&count=9#{limit}')}&count=10`])
  })

  it.each<readonly [string, string, object, string, string | null]>([
    ['an engine that is not declared', 'google', {}, 'invalid_field', 'engine'],
    ['a language that the engine does not take', 'brave', { language: 'en' }, 'invalid_field', 'language'],
    ['an invalid freshness', 'brave', { freshness: 'soon' }, 'invalid_field', 'freshness'],
    ['an engine on a private host that is not allowed', 'private', {}, 'fetch_failed', null],
  ])('refuses %s', async (_what, engine, more, code, param) => {
    expect((await refusal(engine, more)).slice(0, 2)).toEqual([code, param])
    expect(site.requested).toEqual([])
  })

  it.each<readonly [string, SitePage]>([
    ['a refusal', json({ error: 'key secret-1 is used up' }, 429)],
    [
      'a redirect',
      { status: 302, headers: { 'content-type': 'text/html', location: 'http://127.0.0.1:9/' }, body: '' },
    ],
    ['no JSON', json('<html>')],
    ['another shape', json({ results: 'none' })],
    ['what nests without end', json(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
    ['more than is read', json({ web: { results: [] }, rest: 'x'.repeat(2_000_000) })],
  ])('fails without repeating the response for an engine that answers %s', async (_what, page) => {
    site.pages.set('/brave', page)
    const [code, , message] = await refusal('brave')
    expect(code).toBe('fetch_failed')
    expect(message).toContain('The engine brave')
    expect(message).not.toContain('secret')
  })
})

describe('declarations of engines', () => {
  const good = { name: 'a', shape: 'brave', url: 'https://a.example/?q={query}' }
  it.each([
    ['no JSON', 'x'],
    ['no list', JSON.stringify(good)],
    ['a name twice', JSON.stringify([good, good])],
    ['an unknown shape', JSON.stringify([{ ...good, shape: 'other' }])],
    ['a URL without a query', JSON.stringify([{ ...good, url: 'https://a.example/' }])],
    ['a query in the path', JSON.stringify([{ ...good, url: 'https://a.example/{query}?x=1' }])],
    ['another protocol', JSON.stringify([{ ...good, url: 'file:///x?q={query}' }])],
    ['a field that is not known', JSON.stringify([{ ...good, key: 'x' }])],
    ['a header that is not text', JSON.stringify([{ ...good, headers: { a: 1 } }])],
    ['too many results', JSON.stringify([{ ...good, max: 51 }])],
    [
      'paths that lack one',
      JSON.stringify([{ ...good, shape: undefined, paths: { results: 'a', title: 'b', url: 'c' } }]),
    ],
  ])('are refused for %s', (_what, text) => {
    expect(searchEnginesOf(text)).toBeUndefined()
  })
})
