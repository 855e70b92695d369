import { afterEach, expect, it, vi } from 'vitest'
import { type RedisServers, startRedisCluster, startSentinels } from '#scripts/services/redis-topologies.ts'
import type { Service } from '#scripts/services/service.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, isDelta, textOf } from '../stream-reader.ts'
import { ClusterWorld } from './cluster-world.ts'

/** Some seven seconds of text, longer than a failover. */
const longAnswer = `slow please ${'and tell us more of the same '.repeat(5)}`

let redis: RedisServers
let world: ClusterWorld
afterEach(async () => {
  await world?.stop()
  await redis?.stop()
})

/** Follows a turn at a node that does not own the session, while `disturb` runs; no event is lost or repeated. */
const followThrough = async (disturb: (follower: string) => Promise<void>): Promise<void> => {
  const session = await world.api(0).createSession()
  const { owner, others } = await world.sides(session)
  const [other] = others
  if (other === undefined) throw new Error('there are two nodes')
  const follower = await world.at(other).follow(session, '0')
  const turn = await world.at(owner).turn(session, { input: longAnswer })
  await follower.until(isDelta)
  await disturb(other.name)
  await follower.until(endsTurn)
  follower.stop()
  const frames = await turn.all()
  expect(follower.frames).toEqual(frames)
  expect(follower.frames.map(({ id }) => Number(id))).toEqual(counted(frames))
  expect(textOf(follower.frames)).toContain('and tell us more of the same')
}

/** Redis as the probes of both nodes report it. */
const expectRedis = (kind: string, answers: boolean): Promise<void> =>
  vi.waitFor(async () => {
    for (const api of world.apis) expect((await api.get('/readyz')).body.redis).toEqual({ kind, answers })
  }, patience)

const serverWhere = async (holds: (server: Service) => Promise<boolean>): Promise<Service> => {
  for (const server of redis.servers) if (await holds(server)) return server
  throw new Error('there is no such Redis server')
}

it('streams of another node continue over a master that hangs behind sentinels, and over cut connections', async () => {
  redis = await startSentinels()
  world = await ClusterWorld.start(2, { redisUrl: redis.url })
  await expectRedis('sentinel', true)
  const [master, replica] = redis.servers
  await followThrough(async () => {
    process.kill(master?.pid ?? 0, 'SIGSTOP')
    await expectRedis('sentinel', false)
    await expectRedis('sentinel', true)
  })
  process.kill(master?.pid ?? 0, 'SIGCONT')
  const nodes = await (await world.dashboard()).get('/api/nodes')
  const at = `master mymaster at 127.0.0.1:${replica?.port}, named by sentinels`
  expect(nodes.body.data.map((node: { readonly redis: unknown }) => node.redis)).toContain(at)

  await followThrough(async () => {
    if (replica === undefined) throw new Error('there is a replica')
    for (let n = 0; n < 3; n++) await redis.call(replica, 'client', 'kill', 'type', 'pubsub')
  })
  await expectRedis('sentinel', true)
}, 180_000)

it('streams of another node continue when the master of its channel in a cluster is killed', async () => {
  redis = await startRedisCluster()
  world = await ClusterWorld.start(2, { redisUrl: redis.url })
  await expectRedis('cluster', true)
  await followThrough(async (follower) => {
    const { members } = await world.leases()
    const own = members.find(({ node }) => node === follower)?.process ?? ''
    const master = await serverWhere(async (server) => {
      const channels = String(await redis.call(server, 'pubsub', 'shardchannels'))
      return channels.includes(`news:${own}`)
    })
    await master.kill9()
    await expectRedis('cluster', false)
    await expectRedis('cluster', true)
  })
}, 180_000)
