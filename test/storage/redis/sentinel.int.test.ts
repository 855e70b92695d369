import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServers, startSentinels } from '#scripts/services/redis-topologies.ts'
import { redisContracts } from './contracts.ts'
import { eventually, expectNews, takenDuring } from './failover.ts'
import { openOn } from './opening.ts'

let redis: RedisServers
beforeAll(async () => {
  redis = await startSentinels()
}, 120_000)
afterAll(() => redis?.stop())

redisContracts('redis with sentinels', () => redis.url)

describe('a master that hangs', () => {
  it('is replaced: news arrives by the new master, and limits were at most those of each process', async () => {
    const [mine, theirs] = await Promise.all([
      openOn(redis.url, 'failover', { patienceMs: 300 }),
      openOn(redis.url, 'failover', { patienceMs: 300 }),
    ])
    const heard: unknown[] = []
    theirs.fanOut.listen('theirs', (news) => heard.push(...news))
    await expectNews(mine, 'theirs', heard)
    const [master, replica] = redis.servers
    expect(mine.presence.connectedTo).toBe(`master mymaster at 127.0.0.1:${master?.port}, named by sentinels`)
    const [taken] = await takenDuring([mine, theirs], ['limit'], async () => {
      process.kill(master?.pid ?? 0, 'SIGSTOP')
      await eventually(() => expect([mine.fanOut.up, theirs.fanOut.up]).toEqual([false, false]))
      await eventually(() => expect([mine.fanOut.up, theirs.fanOut.up]).toEqual([true, true]))
    })
    expect(mine.presence.connectedTo).toBe(`master mymaster at 127.0.0.1:${replica?.port}, named by sentinels`)
    await expectNews(mine, 'theirs', heard)
    // those before the failover that were not replicated, and what each process admitted by itself meanwhile
    expect(taken).toBeGreaterThanOrEqual(20)
    expect(taken).toBeLessThanOrEqual(4 * 20)
    process.kill(master?.pid ?? 0, 'SIGCONT')
    await Promise.all([mine.close(), theirs.close()])
  })
})
