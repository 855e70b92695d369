import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { either, type stores, World } from '../world.ts'
import { FormSite } from './form-site.ts'
import { begun, ended, path } from './jobs-of.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('browser jobs', () => {
  let site: FormSite
  beforeAll(async () => {
    site = await FormSite.open()
  })
  afterAll(() => site.close())

  const start = (store: (typeof stores)[number]['store'], env: Readonly<Record<string, string>> = {}) =>
    World.start({
      store,
      env: { CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, ...env },
    })

  describe('on one server', () => {
    let world: World
    let api: Api
    beforeAll(async () => {
      world = await start('sqlite')
      api = world.api
    })
    afterAll(() => world.stop())

    const run = async (body: object, as: Api = api) => {
      return ended(as, await begun(as, body))
    }

    it('act on a page, and return its content with a screenshot of each step', async () => {
      const job = await run({
        url: site.url('/form'),
        actions: [
          { type: 'waitFor', selector: 'h1' },
          { type: 'type', selector: '#q', text: 'a b', clear: true },
          { type: 'select', selector: '#size', values: ['l'] },
          { type: 'click', selector: '#go' },
        ],
        screenshot: true,
        snapshot: { max_tokens: 60 },
        viewport: { width: 400, height: 300 },
      })
      expect(job.error).toBeNull()
      expect(job).toMatchObject({ status: 'completed', submitted: true, attempts: 1 })
      expect(job.steps.map(({ type, status }: { type: string; status: string }) => [type, status])).toEqual(
        ['navigate', 'waitFor', 'type', 'select', 'click'].map((type) => [type, 'completed']),
      )
      expect(job.result).toMatchObject({ title: 'Sent', content: 'Thanks q=a+b&size=l', untrusted: true })
      expect(job.result.finalUrl).toBe(site.url('/send'))
      expect(job.result.contentHash).toBe(`sha256:${createHash('sha256').update(job.result.content).digest('hex')}`)
      for (const { text, start, end } of job.result.evidenceSpans)
        expect(job.result.content.slice(start, end)).toBe(text)
      expect(job.result.screenshot).toMatch(/^data:image\/webp;base64,UklGR/)
      expect(job.result.snapshot.text).toContain('Thanks')
      const picture = await api.fetch(job.steps[0].screenshot)
      expect(picture.headers.get('content-type')).toBe('image/webp')
      expect(Buffer.from(await picture.arrayBuffer()).toString('latin1', 8, 12)).toBe('WEBP')
      expect((await api.get(`${path}/${job.id}/steps/9/screenshot`)).status).toBe(404)
      if (process.platform === 'linux') expect(job.peakMemoryBytes).toBeGreaterThan(10_000_000)
      expect((await processTree(`--troupe-job=${job.id}`))?.pids ?? []).toEqual([])
    })

    it('are listed as completed once they have ended', async () => {
      const { body } = await api.get(`${path}?status=completed`)
      expect(body.data[0]).toMatchObject({ status: 'completed', submitted: true })
    })

    it.each([
      ['#password', 'actions[0].selector'],
      ['input[name=api_key]', 'actions[0].selector'],
      ['form >> internal:label="x"', 'actions[0].selector'],
      ['xpath=//input', 'actions[0].selector'],
    ])('refuse the selector %s before a page is opened', async (selector, param) => {
      const { status, body } = await api.post(path, {
        url: site.url('/form'),
        actions: [{ type: 'type', selector, text: 'x' }],
      })
      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_browser_action', details: { param } })
    })

    it.each([
      ['a label of a password', { type: 'type', selector: '#lab', text: 'x' }],
      ['a field of type password', { type: 'click', selector: '#w1' }],
      ['a field that is named a token', { type: 'type', selector: '.plain', text: 'x' }],
      ['a field for a code', { type: 'type', selector: '.once', text: 'x', clear: true }],
    ])('fail when a selector matches %s', async (_name, action) => {
      const job = await run({ url: site.url('/form'), actions: [action] })
      expect(job).toMatchObject({ status: 'failed', error: { code: 'invalid_browser_action' } })
      expect(job.steps.at(-1)).toMatchObject({ status: 'failed', type: action.type })
    })

    it('press no key while a password field has the focus', async () => {
      const press = [...'abcdef'].map(() => ({ type: 'press', key: 'Tab' }))
      const job = await run({ url: site.url('/form'), actions: [...press, { type: 'press', key: 'x' }] })
      expect(job).toMatchObject({ status: 'failed', error: { code: 'invalid_browser_action' } })
    })

    it.each([
      ['type', { type: 'type', selector: '#q' }, 'actions[0].text'],
      ['press', { type: 'press' }, 'actions[0].key'],
      ['select', { type: 'select', selector: '#size' }, 'actions[0].values'],
      ['click', { type: 'click' }, 'actions[0].selector'],
      ['waitFor', { type: 'waitFor', selector: 'h1', milliseconds: 5 }, 'actions[0].selector'],
    ])(
      'are refused with the name of the field that the action %s lacks or must not have',
      async (_type, action, param) => {
        const { status, body } = await api.post(path, { url: site.url('/form'), actions: [action] })
        expect(status).toBe(400)
        expect(body).toMatchObject({ error: 'invalid_browser_action', details: { param } })
      },
    )

    it.each([
      ['ftp://example.com/', 'invalid_url'],
      ['http://169.254.169.254/latest/', 'unsafe_url'],
      ['http://[::1]:9/', 'unsafe_url'],
    ])('refuse %s with %s', async (url, error) => {
      const { status, body } = await api.post(path, { url })
      expect(status).toBe(400)
      expect(body).toMatchObject({ error, details: { param: 'url' } })
    })

    it('are cancelled with their browser, and stay cancelled', async () => {
      const { body } = await api.post(path, {
        url: site.url('/form'),
        actions: Array.from({ length: 20 }, () => ({ type: 'waitFor', milliseconds: 5_000 })),
      })
      await vi.waitFor(async () => {
        expect((await api.get(`${path}/${body.id}`)).body.status).toBe('running')
      }, patience)
      expect((await api.post(`${path}/${body.id}/cancel`)).body.status).toBe('cancelled')
      await vi.waitFor(async () => {
        expect((await processTree(`--troupe-job=${body.id}`))?.pids ?? []).toEqual([])
      }, patience)
      expect((await api.post(`${path}/${body.id}/cancel`)).body.status).toBe('cancelled')
    })

    it('store cookies encrypted in a profile of the tenant, and do not share them with others', async () => {
      const { body: acme } = await api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
      const tenant = api.with({ 'x-tenant-id': acme.id })
      await run({ url: site.url('/login'), profile: { name: 'shop', save: true } }, tenant)
      await run({ url: site.url('/again'), profile: { name: 'shop' } }, tenant)
      expect(site.requests.findLast(({ path }) => path === '/again')?.cookie).toBe('seat=17')
      await run({ url: site.url('/stranger'), profile: { name: 'shop' } })
      expect(site.requests.findLast(({ path }) => path === '/stranger')?.cookie).toBe('')
      const { body } = await tenant.get('/v1/web/profiles')
      expect(body.data).toMatchObject([{ name: 'shop', tenantId: acme.id, cookies: 1 }])
      expect(await world.mentions('seat')).toEqual({})
      const removed = await tenant.fetch(`/v1/web/profiles/${body.data[0].id}`, undefined, { method: 'DELETE' })
      expect(removed.status).toBe(200)
      expect((await tenant.get('/v1/web/profiles')).body.data).toEqual([])
    })
  })

  it('are refused by a server without a browser', async () => {
    const world = await start('sqlite', { CHROMIUM_PATH: '/nowhere/chromium' })
    const { status, body } = await world.api.post(path, { url: site.url('/form') })
    expect(status).toBe(503)
    expect(body).toMatchObject({ error: 'browser_unavailable' })
    expect(body.message).toContain('CHROMIUM_PATH')
    await world.stop()
  })

  // one kill interrupts a job of each kind at once
  describe.each(either('sqlite'))('interrupted by kill -9 on $store', ({ store }) => {
    const slow = `/slow-${store}`
    const [ids, posts] = [{ held: '', slow: '' }, { before: 0 }]
    let world: World

    const seen = (method: string, address: string, times: number) =>
      vi.waitFor(() => expect(site.count(method, address)).toBe(times), { ...patience, interval: 5 })

    beforeAll(async () => {
      world = await start(store)
      posts.before = site.count('POST', '/held')
      ids.held = await begun(world.api, { url: site.url('/form'), actions: [{ type: 'click', selector: '#hold' }] })
      await seen('POST', '/held', posts.before + 1)
      ids.slow = await begun(world.api, { url: site.url(slow), actions: [{ type: 'waitFor', milliseconds: 3_000 }] })
      await seen('GET', slow, 1)
      await world.crash()
      await world.restart()
    }, 180_000)
    afterAll(() => world.stop())

    it('are run again when nothing was submitted', async () => {
      const { body: after } = await world.api.get(`${path}/${ids.slow}`)
      expect(['queued', 'running', 'completed']).toContain(after.status)
      const job = await ended(world.api, ids.slow)
      expect(job).toMatchObject({ status: 'completed', submitted: false, attempts: 2 })
      expect(job.steps).toHaveLength(2)
      expect(site.count('GET', slow)).toBe(2)
    })

    it('submit no form twice', async () => {
      const job = await ended(world.api, ids.held)
      expect(job).toMatchObject({ status: 'failed', submitted: true, error: { code: 'outcome_unknown' } })
      expect(site.count('POST', '/held')).toBe(posts.before + 1)
      for (const response of site.held.splice(0)) response.end()
    })
  })
})
