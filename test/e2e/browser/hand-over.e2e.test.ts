import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { stores, World } from '../world.ts'
import { LoginSite } from './login-site.ts'

const path = '/v1/web/browse'

/** The job once it waits for a person. */
const waiting = (api: Api, id: string) =>
  vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    expect(body, JSON.stringify(body.error)).toMatchObject({
      status: 'running',
      waiting: { message: 'Please log in.' },
    })
    return body
  }, patience)

/** The job once it has ended. */
const ended = (api: Api, id: string) =>
  vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    expect(['queued', 'running']).not.toContain(body.status)
    return body
  }, patience)

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a browser job that is handed over to a person', () => {
  let site: LoginSite
  beforeAll(async () => {
    site = await LoginSite.open()
  })
  afterAll(() => site.close())

  const start = (store: (typeof stores)[number]['store']) =>
    World.start({
      store,
      env: {
        ...{ CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host },
        BROWSER_JOBS: '6',
      },
    })
  const handOver = { type: 'handOver', message: 'Please log in.' }
  const begun = async (api: Api, body: object = {}): Promise<string> => {
    const answer = await api.post(path, { url: site.url('/'), actions: [handOver], ...body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    return answer.body.id
  }

  describe('of one server', () => {
    let world: World
    let api: Api
    beforeAll(async () => {
      world = await start('sqlite')
      api = world.api
    })
    afterAll(() => world.stop())

    it('waits, says so, and goes on when it is continued', async () => {
      const id = await begun(api, { actions: [handOver, { type: 'click', selector: 'button' }] })
      const job = await waiting(api, id)
      expect(Date.parse(job.waiting.expires_at) - Date.parse(job.waiting.since)).toBe(300_000)
      const { body } = await api.get(`${path}?status=running`)
      expect(body.data).toMatchObject([{ id, waiting: { message: 'Please log in.' } }])
      const continued = await api.post(`${path}/${id}/continue`, { note: 'Logged in.' })
      expect(continued).toMatchObject({ status: 200, body: { status: 'running', waiting: null } })
      const again = await api.post(`${path}/${id}/continue`, {})
      expect(again).toMatchObject({ status: 409, body: { error: 'invalid_transition' } })
      expect(await ended(api, id)).toMatchObject({
        ...{ status: 'completed', submitted: true },
        steps: [{ type: 'navigate' }, { type: 'handOver', note: 'Logged in.' }, { type: 'click' }],
      })
    })

    it('can be cancelled meanwhile, and leaves no process', async () => {
      const id = await begun(api)
      await waiting(api, id)
      expect((await api.post(`${path}/${id}/cancel`)).body).toMatchObject({ status: 'cancelled', waiting: null })
      await vi.waitFor(async () => expect((await processTree(`--troupe-job=${id}`))?.pids ?? []).toEqual([]), patience)
      expect((await api.post(`${path}/${id}/continue`, {})).status).toBe(409)
    })

    it('fails when nobody continues it in time', async () => {
      const id = await begun(api, { actions: [{ ...handOver, timeoutMs: 10_000 }] })
      await waiting(api, id)
      expect(await ended(api, id)).toMatchObject({ status: 'failed', error: { code: 'hand_over_expired' } })
      await vi.waitFor(async () => expect((await processTree(`--troupe-job=${id}`))?.pids ?? []).toEqual([]), patience)
    })

    it('is not there for another tenant', async () => {
      const tenants = await Promise.all(
        ['one', 'two'].map((name) => api.post('/v1/tenants', { external_id: `of-${name}`, name })),
      )
      const [one, two] = tenants.map(({ body }) => api.with({ 'x-tenant-id': body.id }))
      if (one === undefined || two === undefined) throw new Error('two tenants')
      const id = await begun(one)
      await waiting(one, id)
      expect((await two.post(`${path}/${id}/continue`, {})).status).toBe(404)
      expect((await one.post(`${path}/${id}/continue`, {})).status).toBe(200)
      expect((await ended(one, id)).status).toBe('completed')
    })
  })

  describe.each(stores)('over kill -9 on $store', ({ store }) => {
    it('submits nothing twice that the person has submitted', async () => {
      const world = await start(store)
      const id = await begun(world.api)
      await waiting(world.api, id)
      const before = site.count('POST /session')
      const click = ['mouseDown', 'mouseUp'].map((type) => ({ type, x: 100, y: 135 }))
      expect((await world.api.post(`${path}/${id}/input`, { events: click })).status).toBe(200)
      await vi.waitFor(() => expect(site.count('POST /session')).toBe(before + 1), patience)
      await world.crash()
      await world.restart()
      const unknown = { status: 'failed', waiting: null, error: { code: 'outcome_unknown' } }
      expect(await ended(world.api, id)).toMatchObject(unknown)
      expect(site.count('POST /session')).toBe(before + 1)
      expect((await world.api.post(`${path}/${id}/continue`, {})).status).toBe(409)
      await world.stop()
    })

    it('hands over again when nothing was submitted', async () => {
      const world = await start(store)
      const id = await begun(world.api)
      await waiting(world.api, id)
      await world.crash()
      await world.restart()
      await vi.waitFor(async () => {
        const { body } = await world.api.get(`${path}/${id}`)
        expect(body).toMatchObject({ attempts: 2, submitted: false, waiting: { message: 'Please log in.' } })
      }, patience)
      expect((await world.api.post(`${path}/${id}/continue`, {})).status).toBe(200)
      expect(await ended(world.api, id)).toMatchObject({ status: 'completed', attempts: 2 })
      await world.stop()
    })
  })
})
