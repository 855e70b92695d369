import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { either, type stores, World } from '../world.ts'
import { begun, ended, path, waiting } from './jobs-of.ts'
import { LoginSite } from './login-site.ts'

const handOver = { type: 'handOver', message: 'Please log in.' }

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a browser job handed over to a person', () => {
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
  const handedOver = (api: Api, actions: readonly object[] = [handOver]) => begun(api, { url: site.url('/'), actions })

  describe('on one server', () => {
    let world: World
    let api: Api
    beforeAll(async () => {
      world = await start('sqlite')
      api = world.api
    })
    afterAll(() => world.stop())

    it('waits with its message, and resumes when it is continued', async () => {
      const id = await handedOver(api, [handOver, { type: 'click', selector: 'button' }])
      const job = await waiting(api, id, handOver.message)
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

    it('can be cancelled while it waits, and leaves no process', async () => {
      const id = await handedOver(api)
      await waiting(api, id, handOver.message)
      expect((await api.post(`${path}/${id}/cancel`)).body).toMatchObject({ status: 'cancelled', waiting: null })
      await vi.waitFor(async () => expect((await processTree(`--troupe-job=${id}`))?.pids ?? []).toEqual([]), patience)
      expect((await api.post(`${path}/${id}/continue`, {})).status).toBe(409)
    })

    it('fails when it is not continued in time', async () => {
      const id = await handedOver(api, [{ ...handOver, timeoutMs: 10_000 }])
      await waiting(api, id, handOver.message)
      expect(await ended(api, id)).toMatchObject({ status: 'failed', error: { code: 'hand_over_expired' } })
      await vi.waitFor(async () => expect((await processTree(`--troupe-job=${id}`))?.pids ?? []).toEqual([]), patience)
    })

    it('cannot be continued by another tenant', async () => {
      const tenants = await Promise.all(
        ['one', 'two'].map((name) => api.post('/v1/tenants', { external_id: `of-${name}`, name })),
      )
      const [one, two] = tenants.map(({ body }) => api.with({ 'x-tenant-id': body.id }))
      if (one === undefined || two === undefined) throw new Error('two tenants')
      const id = await handedOver(one)
      await waiting(one, id, handOver.message)
      expect((await two.post(`${path}/${id}/continue`, {})).status).toBe(404)
      expect((await one.post(`${path}/${id}/continue`, {})).status).toBe(200)
      expect((await ended(one, id)).status).toBe('completed')
    })
  })

  describe.each(either('mongo'))('interrupted by kill -9 on $store', ({ store }) => {
    it('fails if the person has submitted something, and submits nothing twice', async () => {
      const world = await start(store)
      const id = await handedOver(world.api)
      await waiting(world.api, id, handOver.message)
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

    it('is handed over again when nothing was submitted', async () => {
      const world = await start(store)
      const id = await handedOver(world.api)
      await waiting(world.api, id, handOver.message)
      await world.crash()
      await world.restart()
      expect((await waiting(world.api, id, handOver.message, 2)).submitted).toBe(false)
      expect((await world.api.post(`${path}/${id}/continue`, {})).status).toBe(200)
      expect(await ended(world.api, id)).toMatchObject({ status: 'completed', attempts: 2 })
      await world.stop()
    })
  })
})
