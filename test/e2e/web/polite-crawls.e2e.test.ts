import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { html, Site } from '#test/support/site.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

const ownWords = (n: number): string => Array.from({ length: 20 }, (_, at) => `word${n * 20 + at}`).join(' ')

describe('crawls of one site', () => {
  let site: Site
  let world: World
  let [open, max] = [0, 0]
  const begun: number[] = []

  beforeAll(async () => {
    site = await Site.open()
    for (let n = 0; n < 40; n += 1) {
      const page = html(`<p>Page ${n}: ${ownWords(n)}.</p>`)
      site.pages.set(`/p${n}`, {
        answer: (response) => {
          begun.push(performance.now())
          open += 1
          max = Math.max(max, open)
          setTimeout(() => {
            open -= 1
            response.writeHead(200, page.headers).end(page.body)
          }, 150)
        },
      })
    }
    let requested = 0
    site.pages.set('/busy', {
      answer: (response) => {
        requested += 1
        if (requested === 1) response.writeHead(429, { 'retry-after': '4' }).end()
        else response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${ownWords(99)}`)
      },
    })
    world = await World.start({
      env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, WEB_HOST_DELAY_MS: '50', WEB_CONTACT: 'crawls@example.com' },
    })
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  const job = async (id: string) => (await world.api.get(`/api/v1/web/crawls/${id}`)).body
  const ended = (id: string) =>
    vi.waitFor(async () => {
      const body = await job(id)
      expect(body.status).toBe('completed')
      return body
    }, patience)

  it('send two requests at a time in all, spaced, with a contact in the user agent', async () => {
    const seeds = Array.from({ length: 5 }, (_, crawl) =>
      Array.from({ length: 8 }, (_, n) => site.url(`/p${crawl * 8 + n}`)),
    )
    const ids = await Promise.all(
      seeds.map(async (each) => (await world.api.post('/api/v1/web/crawls', { seeds: each, maxDepth: 0 })).body.id),
    )
    const done = await Promise.all(ids.map(ended))
    expect(done.map(({ indexed }) => indexed)).toEqual([8, 8, 8, 8, 8])
    expect(max).toBe(2)
    const times = begun.toSorted((a, b) => a - b)
    // the requests arrive a little earlier or later than they were sent
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(39 * 50 * 0.9)
    expect(site.requested.at(-1)?.headers['user-agent']).toBe('TroupeBot/1.0 (+crawls@example.com)')
  })

  it('wait for a host that answers 429, say so, and continue, also after kill -9', async () => {
    const { id } = (await world.api.post('/api/v1/web/crawls', { seeds: [site.url('/busy')], maxDepth: 0 })).body
    await vi.waitFor(async () => {
      expect((await job(id)).waitingFor).toMatchObject([{ host: site.host, reason: 'site_busy', pages: 1 }])
    }, patience)
    await world.crash()
    await world.restart()
    expect(await ended(id)).toMatchObject({ indexed: 1, waitingFor: [] })
    expect(site.paths().filter((path) => path === '/busy')).toHaveLength(2)
  })
})
