import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { html, Site } from '#test/support/site.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'

const pages = 60
/** Different words for each page: short pages that are alike count as duplicates. */
const ownWords = (n: number): string => Array.from({ length: 20 }, (_, at) => `word${n * 20 + at}`).join(' ')
const text = (n: number): string => `<p>Page ${n} has words of its own: ${ownWords(n)}.</p>`

describe.each(either('sqlite'))('a background crawl on $store', ({ store }) => {
  let site: Site
  let world: World

  beforeAll(async () => {
    site = await Site.open()
    site.pages.set('/', html(text(-1) + Array.from({ length: pages }, (_, n) => `<a href="/p${n}">${n}</a>`).join(' ')))
    for (let n = 0; n < pages; n += 1) {
      const page = html(text(n))
      site.pages.set(`/p${n}`, {
        answer: (response) => void setTimeout(() => response.writeHead(200, page.headers).end(page.body), 20),
      })
    }
    site.pages.set('/never', { answer: () => {} })
    world = await World.start({ store, env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, WEB_HOST_DELAY_MS: '20' } })
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  const start = async (body: object) => (await world.api.post('/api/v1/web/crawls', body)).body
  const ended = (id: string) =>
    vi.waitFor(async () => {
      const { body } = await world.api.get(`/api/v1/web/crawls/${id}`)
      expect(body.status).not.toBe('crawling')
      return body
    }, patience)

  it('continues after kill -9, and repeats at most one batch of pages', async () => {
    const { id, status } = await start({ seeds: [site.url('/')], maxPages: 200 })
    expect(status).toBe('crawling')
    await vi.waitFor(async () => {
      const { body } = await world.api.get(`/api/v1/web/crawls/${id}`)
      expect(body.pages.length).toBeGreaterThanOrEqual(17)
    }, patience)
    await world.crash()
    await world.restart()
    const after = (await world.api.get(`/api/v1/web/crawls/${id}`)).body
    expect(after.pages.length).toBeGreaterThanOrEqual(17)
    const done = await ended(id)
    expect(done).toMatchObject({
      status: 'completed',
      indexed: pages + 1,
      skipped: 0,
      failed: 0,
      discovered: pages + 1,
    })
    const read = site.paths().filter((path) => path !== '/robots.txt')
    expect(new Set(read).size).toBe(pages + 1)
    expect(read.length).toBeLessThanOrEqual(pages + 1 + 8)
    const { body } = await world.api.post('/api/v1/web/search', { query: 'words of page', limit: 50 })
    expect(body.count).toBe(50)
  })

  it('is cancelled, also repeatedly', async () => {
    const { id } = await start({ seeds: [site.url('/never')] })
    expect((await world.api.post(`/api/v1/web/crawls/${id}/cancel`, {})).body.status).toBe('cancelled')
    expect((await world.api.post(`/api/v1/web/crawls/${id}/cancel`, {})).body.status).toBe('cancelled')
  })

  it('is refused while its project has 20 running crawls', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push((await start({ seeds: [site.url(`/never?${n}`)] })).id)
    const more = await world.api.post('/api/v1/web/crawls', { seeds: [site.url('/never')] })
    expect([more.status, more.body.error]).toEqual([429, 'rate_limit_exceeded'])
    for (const id of ids) await world.api.post(`/api/v1/web/crawls/${id}/cancel`, {})
    const { body } = await world.api.get('/api/v1/web/crawls?status=crawling')
    expect(body.data).toEqual([])
  })
})
