import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyRedis } from '#scripts/services/redis.ts'
import { type RedisServers, startRedisCluster } from '#scripts/services/redis-topologies.ts'
import type { Service } from '#scripts/services/service.ts'
import { redisContracts } from './contracts.ts'
import { eventually, expectNews, takenDuring } from './failover.ts'
import { openOn } from './opening.ts'

let redis: RedisServers
beforeAll(async () => {
  redis = await startRedisCluster()
}, 120_000)
afterAll(() => redis?.stop())

redisContracts('redis cluster', () => redis.url)

/** The replica of a third of the slots: the servers of a pair take turns. */
const replicaOf = async (third: number): Promise<Service> => {
  for (const server of [redis.servers[third], redis.servers[third + 3]]) {
    if (server !== undefined && String(await redis.call(server, 'role')).startsWith('slave')) return server
  }
  throw new Error('the third has no replica')
}

const keys = Array.from({ length: 12 }, (_, n) => `limit ${n}`)

describe('a master of a cluster that is killed', () => {
  it('costs the keys of the others nothing, and is replaced', async () => {
    const [mine, theirs] = await Promise.all([
      openOn(redis.url, 'failover', { patienceMs: 300 }),
      openOn(redis.url, 'failover', { patienceMs: 300 }),
    ])
    const processes = Array.from({ length: 6 }, (_, n) => `process ${n}`)
    const heard = processes.map((): unknown[] => [])
    for (const [n, each] of processes.entries()) theirs.fanOut.listen(each, (news) => heard[n]?.push(...news))
    for (const [n, each] of processes.entries()) await expectNews(mine, each, heard[n] ?? [])
    const [master] = redis.servers
    expect(mine.presence.connectedTo).toContain('cluster of 3 masters')
    const taken = await takenDuring([mine, theirs], keys, async () => {
      await master?.kill9()
      await eventually(() => expect(mine.presence.connectedTo).toContain(`127.0.0.1:${master?.port} does not answer`))
      await eventually(async () => expect([await mine.ping(), await theirs.ping()]).toEqual([true, true]))
    })
    for (const [n, each] of processes.entries()) await expectNews(mine, each, heard[n] ?? [])
    expect(mine.presence.connectedTo).not.toContain(String(master?.port))
    for (const units of taken) {
      expect(units).toBeGreaterThanOrEqual(20)
      expect(units).toBeLessThanOrEqual(4 * 20)
    }
    await Promise.all([mine.close(), theirs.close()])
  })

  it('is followed when its replica takes over by command, without a failure', async () => {
    const mine = await openOn(redis.url, 'moved', { patienceMs: 300 })
    const heard: unknown[] = []
    mine.fanOut.listen('mine', (news) => heard.push(...news))
    await expectNews(mine, 'mine', heard)
    const replica = await replicaOf(1)
    await redis.call(replica, 'cluster', 'failover')
    await eventually(async () => expect(String(await redis.call(replica, 'role'))).toContain('master'))
    const take = async (key: string) => (await mine.limits.take(key, { limit: 1, windowMs: 60_000 })).allowed
    for (const key of keys) expect(await take(key)).toBe(true)
    // a client may read the masters from a server that has not heard of the change: the next server that refers it
    // to another one makes it read them again
    let others = 0
    await eventually(async () => {
      await take(`another limit ${others++}`)
      expect(mine.presence.connectedTo).toContain(String(replica.port))
    })
    await eventually(async () => expect(await mine.ping()).toBe(true))
    // until then the process may have admitted by itself, as while a server is away: each limit is taken once more
    for (const key of keys) await take(key)
    for (const key of keys) expect(await take(key)).toBe(false)
    await expectNews(mine, 'mine', heard)
    await mine.close()
  })
})

describe('a cluster without sharded channels', () => {
  it('carries news and hints between processes', async () => {
    const older = await startRedisCluster({ binary: anyRedis(), replicas: 0 })
    const [mine, theirs] = await Promise.all([openOn(older.url, 'classic'), openOn(older.url, 'classic')])
    const [heard, hints]: [unknown[], unknown[]] = [[], []]
    theirs.fanOut.listen('theirs', (news) => heard.push(...news))
    theirs.fanOut.subscribe('topic', (data) => hints.push(data))
    await expectNews(mine, 'theirs', heard)
    await eventually(() => {
      mine.fanOut.announce('topic', {})
      expect(hints.length).toBeGreaterThan(0)
    })
    await Promise.all([mine.close(), theirs.close()])
    await older.stop()
  }, 120_000)
})
