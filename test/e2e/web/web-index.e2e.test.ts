import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html, Site, to } from '#test/support/site.ts'
import type { Api } from '../api.ts'
import { either, World } from '../world.ts'

const about = (what: string, n = 0): string =>
  Array.from(
    { length: 4 },
    (_, at) =>
      `<p>${what} is described here in paragraph ${at} of page ${n}, with what a reader of ${what} needs to know about it.</p>`,
  ).join('')
const page = (what: string, head = '', rest = ''): string =>
  `<!doctype html><html lang="en"><head><title>${what}</title>${head}</head><body><main>${about(what)}${rest}</main></body></html>`

describe.each(either('sqlite'))('the web index of a project on $store', ({ store }) => {
  let site: Site
  let other: Site
  let world: World

  beforeAll(async () => {
    other = await Site.open({ '/': html(page('Elsewhere')) })
    site = await Site.open({
      '/robots.txt': { body: 'User-agent: *\nDisallow: /denied\n' },
      '/': html(
        page(
          'Harbour',
          '<meta property="article:published_time" content="2026-01-05T00:00:00Z">',
          `<a href="/tide">Tide</a><a href="/denied">D</a><a href="/noindex">N</a><a rel="nofollow" href="/unfollowed">U</a>
           <a href="/named?utm_source=x">C</a><a href="/mirror">M</a><a href="/gone">G</a><a href="${other.url('/')}">O</a><a href="/image">I</a>`,
        ),
        { etag: '"h1"' },
      ),
      '/tide': html(page('Tide')),
      '/denied': html(page('Denied')),
      '/noindex': html(page('Secret', '<meta name="robots" content="noindex">', '<a href="/behind">B</a>')),
      '/behind': html(page('Behind')),
      '/unfollowed': html(page('Unfollowed')),
      '/named': html(page('Lighthouse', '<link rel="canonical" href="/lighthouse">')),
      '/mirror': html(page('Tide')),
      '/image': { headers: { 'content-type': 'image/png' }, body: 'x' },
      '/deep': html(page('Deep', '', '<a href="/deeper">d</a>')),
      '/deeper': html(page('Deeper')),
      '/moved': to('/tide'),
    })
    world = await World.start({ store, env: { ALLOWED_PRIVATE_CONTENT_HOSTS: `${site.host},${other.host}` } })
  })
  afterAll(async () => {
    await world.stop()
    await Promise.all([site.close(), other.close()])
  })

  const post = (verb: string, body: object, api: Api = world.api) => api.post(`/api/v1/web/${verb}`, body)
  const titles = async (body: object): Promise<readonly string[]> =>
    (await post('search', body)).body.results.map(({ title }: { title: string }) => title)

  it('has the pages of a crawl, each with its outcome', async () => {
    const { status, body } = await post('crawl', { seeds: [site.url('/')], maxPages: 25, maxDepth: 2 })
    expect(status).toBe(200)
    const of = (path: string) => body.pages.find(({ url }: { url: string }) => url === site.url(path))
    expect(of('/')).toMatchObject({ status: 'indexed', change: 'new', depth: 0 })
    expect(of('/tide')).toMatchObject({ status: 'indexed', change: 'new', depth: 1 })
    expect(of('/denied')).toMatchObject({ status: 'skipped', reason: 'robots_denied' })
    expect(of('/noindex')).toMatchObject({ status: 'skipped', reason: 'noindex' })
    expect(of('/behind')).toMatchObject({ status: 'indexed', depth: 2 })
    expect(of('/named')).toMatchObject({ status: 'indexed', canonicalUrl: site.url('/lighthouse') })
    expect(of('/gone')).toMatchObject({ status: 'failed', reason: 'fetch_failed' })
    expect(of('/image')).toMatchObject({ status: 'skipped', reason: 'unsupported_content_type' })
    expect(of('/unfollowed')).toBeUndefined()
    expect(body.pages.some(({ url }: { url: string }) => url.startsWith(other.url('')))).toBe(false)
    expect([body.indexed + body.skipped + body.failed, body.discovered]).toEqual([body.pages.length, body.pages.length])
    expect(site.paths()).not.toContain('/denied')
    const twins = body.pages.filter(({ reason }: { reason?: string }) => reason === 'duplicate_content')
    expect(twins.length).toBeLessThanOrEqual(1)
  })

  it('answers searches with quotes and publication times', async () => {
    const { status, body } = await post('search', { query: 'harbour reader', limit: 3, explain: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({ query: 'harbour reader', searchEngine: 'troupe-web-2:lexical', untrusted: true })
    const [first] = body.results
    expect(first).toMatchObject({
      ...{ title: 'Harbour', url: site.url('/'), canonicalUrl: site.url('/'), corpus: 'project' },
      publishedAt: '2026-01-05T00:00:00.000Z',
    })
    expect(first.evidence.quote).toContain('Harbour is described here')
    expect(Object.keys(first.signals)).toEqual(
      expect.arrayContaining([
        'relevance',
        'lexical',
        'semantic',
        'title',
        'authority',
        'freshness',
        'quality',
        'spam',
        'diversity',
      ]),
    )
    expect(body.count).toBe(body.results.length)
  })

  it('is filtered by host, age and language', async () => {
    expect(await titles({ query: 'harbour', domain: '127.0.0.1' })).toContain('Harbour')
    expect(await titles({ query: 'harbour', domain: 'example.com' })).toEqual([])
    expect(await titles({ query: 'reader', freshness: '2026-01-01' })).toEqual(['Harbour'])
    expect(await titles({ query: 'reader', freshness: '2026-02-01T00:00:00Z' })).toEqual([])
    expect(await titles({ query: 'harbour', language: 'en' })).toContain('Harbour')
    expect(await titles({ query: 'harbour', language: 'de' })).toEqual([])
  })

  it('is not visible to another project', async () => {
    const dashboard = await world.dashboard()
    const second = (await dashboard.post('/api/projects', { name: 'Second' })).body.id
    const key = (await dashboard.post(`/api/projects/${second}/keys`, { name: 'k' })).body.key
    expect((await post('search', { query: 'harbour' }, world.as(key))).body.results).toEqual([])
  })

  it('detects changed pages, and makes conditional requests', async () => {
    const again = await post('crawl', { seeds: [site.url('/tide')], maxDepth: 0 })
    expect(again.body.pages).toMatchObject([{ status: 'indexed', change: 'unchanged' }])
    site.pages.set('/tide', html(page('Flood')))
    const changed = await post('crawl', { seeds: [site.url('/tide')], maxDepth: 0 })
    expect(changed.body.pages).toMatchObject([{ status: 'indexed', change: 'changed' }])
    expect(await titles({ query: 'flood' })).toContain('Flood')
    site.pages.set('/', { status: 304 })
    const same = await post('crawl', { seeds: [site.url('/')], maxDepth: 0 })
    expect(same.body.pages).toMatchObject([{ status: 'indexed', change: 'unchanged' }])
    expect(site.requested.at(-1)?.headers['if-none-match']).toBe('"h1"')
    const before = site.requested.length
    const kept = await post('crawl', { seeds: [site.url('/')], maxDepth: 0, maxAge: 3600 })
    expect([kept.body.indexed, site.requested.length]).toEqual([1, before])
  })

  it('keeps the text of a canonical page, whatever pages name it as canonical and in which order they are read', async () => {
    const copy = page('Printout', '<link rel="canonical" href="/sheet">', '<a href="/sheet">S</a>')
    for (const path of ['/copy', '/print']) site.pages.set(path, html(copy))
    site.pages.set('/sheet', html(page('Spreadsheet')))
    const crawl = async (...paths: readonly string[]) => {
      const { body } = await post('crawl', { seeds: paths.map((path) => site.url(path)), maxDepth: 1 })
      return body.pages.map(({ url, status, reason, change }: Record<string, string>) => [
        new URL(url ?? '').pathname,
        ...[status, reason ?? change],
      ])
    }
    expect(await crawl('/print')).toEqual([
      ['/print', 'skipped', 'duplicate'],
      ['/sheet', 'indexed', 'changed'],
    ])
    const again = [
      ['/print', 'skipped', 'duplicate'],
      ['/copy', 'skipped', 'duplicate'],
      ['/sheet', 'indexed', 'unchanged'],
    ]
    expect(await crawl('/print', '/copy')).toEqual(again)
    expect(await crawl('/print', '/copy')).toEqual(again)
    expect(await titles({ query: 'spreadsheet' })).toContain('Spreadsheet')
    expect(await titles({ query: 'printout' })).not.toContain('Printout')
  })

  it('includes the pages of a sitemap on request', async () => {
    site.pages.set('/sitemap.xml', {
      headers: { 'content-type': 'application/xml' },
      body: `<urlset><url><loc>${site.url('/deep')}</loc></url><url><loc>http://10.0.0.1/</loc></url></urlset>`,
    })
    const { body } = await post('crawl', { seeds: [site.url('/behind')], maxDepth: 0, sitemap: true })
    expect(body.pages.map(({ url }: { url: string }) => url)).toEqual([site.url('/behind'), site.url('/deep')])
  })

  it('permanently loses a page once its takedown is granted', async () => {
    const request = {
      urls: [site.url('/behind')],
      basis: 'privacy',
      requesterName: 'Ada',
      requesterEmail: 'ada@example.com',
      statement: 'This page is about me and nobody else.',
    }
    const made = await post('takedown', request)
    expect([made.status, made.body.status]).toEqual([202, 'pending'])
    expect(await titles({ query: 'behind' })).toContain('Behind')
    const dashboard = await world.dashboard()
    const path = `/v1/web/takedowns/${made.body.id}`
    const decided = await dashboard.post(`${path}/decision`, { decision: 'remove', reason: 'It is.' })
    expect(decided.body).toMatchObject({
      status: 'removed',
      removed_pages: 1,
      reason: 'It is.',
      requester_email: 'ada@example.com',
    })
    expect((await dashboard.post(`${path}/decision`, { decision: 'reject' })).status).toBe(409)
    expect(await titles({ query: 'behind' })).not.toContain('Behind')
    const again = await post('crawl', { seeds: [site.url('/behind')], maxDepth: 0 })
    expect(again.body.pages).toMatchObject([{ status: 'skipped', reason: 'taken_down' }])
    const { body } = await dashboard.get('/api/audit?limit=50').catch(() => ({ body: {} }))
    expect(body).toBeDefined()
    expect((await world.api.get('/v1/web/takedowns?status=removed')).body.data).toHaveLength(1)
  })

  it.each<readonly [string, object, string]>([
    ['crawl', { seeds: [] }, 'invalid_field'],
    ['crawl', { seeds: Array.from({ length: 21 }, (_, n) => `http://a.example/${n}`) }, 'invalid_field'],
    ['crawl', { seeds: ['ftp://a.example'] }, 'invalid_url'],
    ['crawl', { seeds: ['http://u:p@a.example'] }, 'unsafe_url'],
    ['search', { query: '' }, 'invalid_field'],
    ['search', { query: 'a', limit: 51 }, 'invalid_field'],
    ['search', { query: 'a', freshness: 'soon' }, 'invalid_field'],
    [
      'takedown',
      {
        urls: ['http://a.example'],
        basis: 'other',
        requesterName: 'A',
        requesterEmail: 'no address',
        statement: 'x'.repeat(20),
      },
      'invalid_field',
    ],
    [
      'takedown',
      {
        urls: ['http://a.example'],
        basis: 'other',
        requesterName: 'A',
        requesterEmail: 'a@b.de',
        statement: 'x'.repeat(19),
      },
      'invalid_field',
    ],
  ])('refuses %s of %j', async (verb, body, code) => {
    const answer = await post(verb, body)
    expect([answer.status, answer.body.error]).toEqual([400, code])
  })
})
