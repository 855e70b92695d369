import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ClusterWorld } from '../cluster/cluster-world.ts'
import { patience } from '../patience.ts'
import { isEvent } from '../stream-reader.ts'
import { begun, ended, path, waiting } from './jobs-of.ts'
import { LoginSite, password } from './login-site.ts'

const click = (x: number, y: number) => ['mouseMove', 'mouseDown', 'mouseUp'].map((type) => ({ type, x, y }))

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the live view of a waiting browser job in a cluster', () => {
  let site: LoginSite
  let world: ClusterWorld
  beforeAll(async () => {
    site = await LoginSite.open()
    const env = {
      ...{ CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host },
      BROWSER_JOBS: '4',
    }
    world = await ClusterWorld.start(2, { env })
    await world.settled()
  }, 240_000)
  afterAll(async () => {
    await world?.stop()
    await site.close()
  })

  it('works through a node other than the one that runs the browser', async () => {
    const body = { url: site.url('/'), actions: [{ type: 'handOver' }] }
    const id = await begun(world.api(0), body)
    const inside = site.url('/inside?code=s3cr3t')
    const events = [...click(100, 85), { type: 'text', text: password }, ...click(100, 135)]
    // a view that is interrupted is opened again, as clients do: a node that stalls loses the job to another one
    const { api, live } = await vi.waitFor(async () => {
      const [other] = (await world.sides(id)).others
      const api = world.at(other ?? expect.fail('another node'))
      await waiting(api, id, null)
      const live = await api.stream(`${path}/${id}/live`)
      const { data: first } = await live.until(isEvent('frame'))
      if (first.url === inside) return { api, live }
      expect((await api.post(`${path}/${id}/input`, { events })).status).toBe(200)
      const { data: next } = await live.until(({ event, data }) => event === 'frame' && data.url !== first.url)
      expect(next.url).toBe(inside)
      return { api, live }
    }, patience)
    expect((await api.post(`${path}/${id}/continue`, {})).status).toBe(200)
    expect((await live.all()).at(-1)).toMatchObject({ event: 'ended' })
    expect(await ended(api, id)).toMatchObject({ status: 'completed', result: { title: 'Orders' } })
  })
})
