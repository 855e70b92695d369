import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startRedis } from '#scripts/services/redis.ts'
import type { Service } from '#scripts/services/service.ts'
import type { Member } from '#storage/cluster-ports.ts'
import { openRedis, type RedisServices } from '#storage/redis/open-redis.ts'
import { newsOf } from './contract/fan-out.ts'
import { openOn, silent } from './redis/opening.ts'

const facts = { shards: 1, liveActors: 2, runningEffects: 3 }
const limit = { limit: 2, windowMs: 3_600_000 }
const memberOf = (process: string): Member => ({
  ...{ process, node: process, address: '127.0.0.1:7000' },
  ...{ draining: false, startedAt: 1 },
})

let server: Service | undefined
const url = (): string => server?.url ?? ''

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.stop())

const eventually = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 60_000, interval: 50 })

/** Guarantees of `Presence`, `FanOut` and `RateLimits` while Redis is unavailable. */
const expectAway = async ({ presence, fanOut, limits, ping }: RedisServices, key: string): Promise<void> => {
  const self = memberOf('away')
  expect(await ping()).toBe(false)
  expect(fanOut.up).toBe(false)
  await presence.announce(self, facts, 60_000)
  await presence.moved([{ actor: 'ses_1', machine: 'session', project: 'p', node: 'away', process: 'away' }], [])
  expect(await presence.alive(self)).toBeNull()
  expect(await presence.hosts()).toEqual([])
  expect(await presence.actors('p', 10)).toEqual([])
  await presence.withdraw('away')
  fanOut.publish('nobody', newsOf('ses_1', 1))
  fanOut.announce('nothing', {})
  const allowed = []
  for (let n = 0; n < 3; n++) allowed.push((await limits.take(key, limit)).allowed)
  expect(allowed).toEqual([true, true, false])
  await limits.reset(key)
}

/** News reaches a listener that existed before the outage. */
const expectNews = async (from: RedisServices, process: string, heard: readonly unknown[]): Promise<void> => {
  const before = heard.length
  await eventually(() => {
    from.fanOut.publish(process, newsOf('ses_1', 1))
    expect(heard.length).toBeGreaterThan(before)
  })
}

describe('a Redis that refuses the password', () => {
  it.each([':tuna', 'stranger:tuna'])(
    'is unavailable for %s, and the log contains the reason without the password',
    async (credentials) => {
      const operator = new Redis(url())
      await operator.config('SET', 'requirepass', 'carp')
      const warned: object[] = []
      const wrong = url().replace('//', `//${credentials}@`)
      const services = await openRedis({
        url: wrong,
        installation: 'refused',
        log: { ...silent, warn: (data) => warned.push(data) },
      })
      expect(warned[0]).toEqual({ reason: expect.stringMatching(/password|AUTH/i) })
      expect(JSON.stringify(warned)).not.toContain('tuna')
      await services.close()
      await operator.config('SET', 'requirepass', '')
      operator.disconnect()
    },
  )
})

describe('a Redis that is killed', () => {
  it('is not required, and is used by all processes once it is back, new and empty', async () => {
    const [mine, theirs] = await Promise.all([openOn(url(), 'killed'), openOn(url(), 'killed')])
    const heard: unknown[] = []
    let returns = 0
    theirs.fanOut.listen('their-process', (news) => heard.push(...news))
    theirs.fanOut.onUp(() => returns++)
    await expectNews(mine, 'their-process', heard)
    await mine.limits.take('shared', limit, 2)
    expect((await theirs.limits.take('shared', limit)).allowed).toBe(false)

    await server?.kill9()
    await eventually(() => expect([mine.fanOut.up, theirs.fanOut.up]).toEqual([false, false]))
    await expectAway(mine, 'alone')
    await expectAway(theirs, 'alone')

    server = await server?.restart()
    await eventually(async () => expect([await mine.ping(), await theirs.ping()]).toEqual([true, true]))
    expect(returns).toBeGreaterThan(0)
    await expectNews(mine, 'their-process', heard)
    await mine.limits.take('shared again', limit, 2)
    expect((await theirs.limits.take('shared again', limit)).allowed).toBe(false)
    await Promise.all([mine.close(), theirs.close()])
  })

  it('never makes an announced process look gone when its directory comes back empty', async () => {
    const clock = { now: Date.now() }
    const open = () =>
      openRedis({ url: url(), installation: 'empty', log: silent, now: () => clock.now, patienceMs: 10_000 })
    const [mine, theirs] = await Promise.all([open(), open()])
    const [self, other] = [memberOf('self'), memberOf('other')]
    const look = async (): Promise<ReadonlySet<string> | null> => {
      await mine.presence.announce(self, facts, 600_000)
      return mine.presence.alive(self)
    }
    const listed = async () => (await mine.presence.hosts()).map(({ process }) => process).sort()
    const bothListed = () =>
      eventually(async () => {
        await look()
        await theirs.presence.announce(other, facts, 600_000)
        expect(await listed()).toEqual(['other', 'self'])
      })
    await bothListed()
    clock.now += 10_000
    await eventually(async () => expect(await look()).toContain('other'))

    await server?.kill9()
    await eventually(async () => expect(await look()).toBeNull())
    server = await server?.restart()
    // the other process reconnects later
    await eventually(async () => {
      await look()
      expect(await listed()).toEqual(['self'])
    })
    expect(await look()).toBeNull()
    clock.now += 1_000
    expect(await look()).toBeNull()
    await bothListed()
    clock.now += 10_000
    await eventually(async () => expect(await look()).toContain('other'))
    await Promise.all([mine.close(), theirs.close()])
  })
})

describe('a Redis that hangs', () => {
  it('blocks no caller, and is used again when it continues', async () => {
    const mine = await openOn(url(), 'paused', { patienceMs: 300 })
    const heard: unknown[] = []
    mine.fanOut.listen('my-process', (news) => heard.push(...news))
    await expectNews(mine, 'my-process', heard)
    const pid = server?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      const begin = performance.now()
      // allowed without a response of Redis, which continues only below
      expect((await mine.limits.take('first', limit)).allowed).toBe(true)
      await eventually(() => expect(mine.fanOut.up).toBe(false))
      await eventually(async () => expect(await mine.ping()).toBe(false))
      await expectAway(mine, 'paused')
      // long enough that the silent connections are replaced by new ones, which hang too
      await eventually(async () => {
        expect(performance.now() - begin).toBeGreaterThan(5_000)
        expect(await mine.ping()).toBe(false)
      })
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await eventually(async () => expect(await mine.ping()).toBe(true))
    await expectNews(mine, 'my-process', heard)
    expect((await mine.limits.take('paused', limit)).allowed).toBe(true)
    await mine.close()
  })
})

describe('connections to Redis that are cut', () => {
  it('are reopened, and every pending call gets a result', async () => {
    const mine = await openOn(url(), 'cut')
    const heard: unknown[] = []
    mine.fanOut.listen('my-process', (news) => heard.push(...news))
    await expectNews(mine, 'my-process', heard)
    const operator = new Redis(url())
    for (let round = 0; round < 5; round++) {
      const taking = Array.from({ length: 200 }, (_, n) => mine.limits.take(`cut ${round} ${n}`, limit))
      const looking = mine.presence.hosts()
      await Promise.all(
        ['normal', 'pubsub'].map((type) => operator.call('client', 'kill', 'type', type, 'skipme', 'yes')),
      )
      expect((await Promise.all(taking)).every(({ allowed }) => allowed)).toBe(true)
      await looking
      await eventually(async () => expect(await mine.ping()).toBe(true))
      await expectNews(mine, 'my-process', heard)
    }
    operator.disconnect()
    await mine.close()
  })
})
