import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ClusterWorld } from '../cluster/cluster-world.ts'
import { patience } from '../patience.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

let provider: OAuthProvider
let world: ClusterWorld

beforeAll(async () => {
  provider = await OAuthProvider.listen()
  world = await ClusterWorld.start(3, { env: provider.env })
  provider.register(...world.nodes.map(({ url }) => url))
})
afterAll(async () => {
  await world?.stop()
  await provider.stop()
})

it('a cluster refreshes a token once for 50 concurrent uses on three nodes', async () => {
  const made = await world.api(0).post('/v1/connections', { connector: 'oauth2', config: provider.config() })
  const { id } = made.body
  const { authorize_url } = (await world.api(0).post(`/v1/connections/${id}/authorize`, {})).body
  const page = await new Browser().connect(authorize_url, 'ann')
  expect(page.text).toContain('<h1>Connected</h1>')
  // a reminder renews it five seconds later if no use has done it: that counts as well
  const before = provider.granted.length
  provider.liveOnce(1)
  const { expires_at } = (await world.api(1).post(`/v1/connections/${id}/refresh`, {})).body
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(expires_at)), { ...patience, interval: 20 })
  const uses = Array.from({ length: 50 }, (_, n) => world.api(n).post(`/v1/connections/${id}/test`, {}))
  const results = await Promise.all(uses)
  expect(results.filter(({ body }) => body.success !== true)).toEqual([])
  expect(provider.granted.length - before).toBe(2)
})

it('a cluster accepts an OAuth state once when it arrives at all three nodes', async () => {
  const { id } = (await world.api(0).post('/v1/connections', { connector: 'oauth2', config: provider.config() })).body
  const { authorize_url } = (await world.api(0).post(`/v1/connections/${id}/authorize`, {})).body
  const browser = new Browser()
  const back = new URL(await browser.signIn(authorize_url, 'ann'))
  const pages = await Promise.all(world.nodes.map(({ url }) => browser.open(`${url}${back.pathname}${back.search}`)))
  expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400])
})
