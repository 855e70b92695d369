import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startServer } from '#scripts/services/server.ts'
import { patience } from '../patience.ts'
import { counted } from '../stream-reader.ts'
import { ClusterWorld } from './cluster-world.ts'

const timeout = 180_000

let world: ClusterWorld
beforeAll(async () => {
  world = await ClusterWorld.start(5, { isNew: true })
}, timeout)
afterAll(() => world.stop())

it('five nodes that start at once on an empty store form one installation', async () => {
  const session = await world.api(0).createSession()
  for (const api of world.apis) expect((await api.get(`/v1/sessions/${session}`)).status).toBe(200)
  await vi.waitFor(async () => expect((await world.leases()).members).toHaveLength(5), patience)
})

it('an installation changes from several nodes to one process and back with its sessions', { timeout }, async () => {
  const { mongodbUrl, dataDir } = world.cluster
  const session = await world.api(0).createSession()
  const turn = async (api: ReturnType<ClusterWorld['at']>) =>
    (await (await api.turn(session, { input: 'hello' })).all()).at(-1)
  expect(await turn(world.api(1))).toMatchObject({ event: 'turn.completed', data: { turn_number: 1 } })

  const [crashed, ...others] = world.nodes
  // its leases still exist: the single process waits until they have expired
  await crashed?.kill9()
  expect(await Promise.all(others.map((node) => node.term()))).toEqual([0, 0, 0, 0])
  const alone = await startServer({ MONGODB_URL: mongodbUrl, DATA_DIR: dataDir })
  expect(await turn(world.at(alone))).toMatchObject({ event: 'turn.completed', data: { turn_number: 2 } })
  await alone.stop()

  const back = world.nodes.slice(0, 2)
  await Promise.all(back.map((node) => node.restart()))
  for (const [n, node] of back.entries()) {
    expect(await turn(world.at(node))).toMatchObject({ event: 'turn.completed', data: { turn_number: 3 + n } })
    const log = await world.at(node).log(session)
    expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
  }
})
