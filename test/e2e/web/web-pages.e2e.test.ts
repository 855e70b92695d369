import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html, Site, to } from '#test/support/site.ts'
import { World } from '../world.ts'

const article = Array.from(
  { length: 4 },
  (_, n) =>
    `<p>Paragraph ${n}: the harbour of the town was built in the spring, and ships have come since, with timber.</p>`,
).join('')

describe('web pages', () => {
  let site: Site
  let world: World

  beforeAll(async () => {
    site = await Site.open({
      '/': html('<p>Hello</p>', { etag: '"1"', 'cache-control': 'max-age=60' }),
      '/article': html(`<html lang="en"><title>Harbour</title><nav>Menu</nav><main>${article}</main></html>`),
      '/moved': to('/article'),
      '/away': to('http://169.254.169.254/latest/meta-data/'),
      '/gone': { ...html('gone'), status: 410 },
      '/image': { headers: { 'content-type': 'image/png' }, body: 'x' },
      '/slow': { answer: () => {} },
      '/robots.txt': { body: 'User-agent: *\nDisallow: /denied' },
    })
    world = await World.start({ env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host } })
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  const post = (verb: string, body: object) => world.api.post(`/api/v1/web/${verb}`, body)

  it('are fetched unchanged', async () => {
    const { status, body } = await post('fetch', { url: site.url('/') })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ url: site.url('/'), finalUrl: site.url('/'), statusCode: 200, mimeType: 'text/html', charset: 'utf-8' },
      ...{ body: '<p>Hello</p>', bytes: 12, untrusted: true },
      cache: { etag: '"1"', lastModified: null, cacheControl: 'max-age=60' },
    })
  })

  it('are extracted with evidence spans', async () => {
    const { status, body } = await post('extract', { url: site.url('/moved') })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      title: 'Harbour',
      language: 'en',
      canonicalUrl: site.url('/article'),
      untrusted: true,
    })
    expect(body.content).toContain('Paragraph 3')
    expect(body.content).not.toContain('Menu')
    for (const { text, start, end } of body.evidenceSpans) expect(body.content.slice(start, end)).toBe(text)
  })

  it('are extracted by a schema, with the evidence of each value', async () => {
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' }, price: { type: 'number' } },
      required: ['price'],
    }
    const { status, body } = await post('extract', { url: site.url('/article'), schema })
    expect(status).toBe(200)
    expect(body.data).toEqual({ title: 'Harbour' })
    expect(body.dataEvidence).toMatchObject([{ path: '/title', text: 'Harbour' }])
    expect(body.dataErrors).toEqual([{ path: '/price', message: 'The page does not contain it.' }])
  })

  it.each([
    ['none', { type: 'objekt' }],
    ['too long', { type: 'object', description: 'x'.repeat(40_000) }],
  ])('are not extracted by a schema that is %s', async (_what, schema) => {
    const { status, body } = await post('extract', { url: site.url('/article'), schema })
    expect([status, body.error, body.details.param]).toEqual([400, 'invalid_field', 'schema'])
  })

  it.each<readonly [path: string, status: number, code: string]>([
    ['/denied', 403, 'robots_denied'],
    ['/away', 400, 'unsafe_url'],
    ['/image', 422, 'unsupported_content_type'],
    ['/slow', 504, 'fetch_timeout'],
  ])('at %s are refused with %i %s by fetch and extract', async (path, status, code) => {
    for (const verb of ['fetch', 'extract']) {
      const answer = await post(verb, { url: site.url(path), timeoutMs: 1_000 })
      expect([answer.status, answer.body.error]).toEqual([status, code])
      expect(answer.body.message).toMatch(/\.$/)
      expect(answer.body.details).toMatchObject({ param: 'url', request_id: expect.stringMatching(/^req_/) })
    }
  })

  it('with an error status are fetched with it, and not extracted', async () => {
    expect((await post('fetch', { url: site.url('/gone') })).body.statusCode).toBe(410)
    const { status, body } = await post('extract', { url: site.url('/gone') })
    expect([status, body.error, body.details.statusCode]).toEqual([502, 'fetch_failed', 410])
  })

  it.each([
    [{}, 'missing_field'],
    [{ url: 5 }, 'invalid_url'],
    [{ url: 'http://a.example', more: 1 }, 'unknown_field'],
    [{ url: 'not an address' }, 'invalid_url'],
  ])('are refused for a request like %j', async (body, code) => {
    const answer = await post('fetch', body)
    expect([answer.status, answer.body.error]).toEqual([400, code])
  })

  it('need a secret key', async () => {
    const dashboard = await world.dashboard()
    const answer = await dashboard.post('/api/v1/web/fetch', { url: site.url('/') })
    expect([answer.status, answer.body.error]).toEqual([403, 'secret_key_required'])
  })

  it('are fetched with the limits of the request clamped to their allowed range', async () => {
    const { status } = await post('fetch', { url: site.url('/'), maxBytes: 99_999_999, timeoutMs: 1 })
    expect(status).toBe(200)
  })
})
