import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startRedis } from '#scripts/services/redis.ts'
import type { Service } from '#scripts/services/service.ts'
import { openRedis } from '#storage/redis/open-redis.ts'
import { newsOf } from './contract/fan-out.ts'
import { redisContracts } from './redis/contracts.ts'
import { openOn, silent } from './redis/opening.ts'

let server: Service | undefined
const url = (): string => server?.url ?? ''

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.stop())

redisContracts('redis', url)

describe('limits in Redis', () => {
  it('never allow more in any window, whatever the timing of several processes', async () => {
    const opened = await Promise.all([1, 2].map(() => openOn(url(), 'windows')))
    const limit = { limit: 20, windowMs: 300 }
    const allowed: { sent: number; done: number }[] = []
    const hammer = async (n: number): Promise<void> => {
      for (let attempt = 0; attempt < 1_500 && allowed.length < 100; attempt++) {
        const sent = performance.now()
        const state = await opened[n % 2]?.limits.take('hammered', limit)
        if (state?.allowed) allowed.push({ sent, done: performance.now() })
        else await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await vi.waitFor(
      async () => {
        await Promise.all([0, 1, 2, 3].map(hammer))
        expect(allowed.length).toBeGreaterThanOrEqual(60)
      },
      { timeout: 60_000 },
    )
    const sents = allowed.map(({ sent }) => sent).sort((a, b) => a - b)
    const dones = allowed.map(({ done }) => done).sort((a, b) => a - b)
    // the 21st after any attempt was done over a window after that attempt was sent (1 ms: the server rounds down)
    for (const [n, sent] of sents.entries()) {
      const next = dones[n + limit.limit]
      if (next !== undefined) expect(next - sent).toBeGreaterThanOrEqual(limit.windowMs - 1)
    }
    await Promise.all(opened.map((redis) => redis.close()))
  })
})

describe('installations that share a Redis', () => {
  it('see no presence, news or limits of each other', async () => {
    const [one, two] = await Promise.all([openOn(url(), 'one'), openOn(url(), 'two')])
    const self = { process: 'p', node: 'n', address: '127.0.0.1:1', draining: false, startedAt: 1 }
    const facts = { shards: 1, liveActors: 1, runningEffects: 0 }
    const [heardByOne, heardByTwo]: [unknown[], unknown[]] = [[], []]
    one.fanOut.listen('p', (news) => heardByOne.push(...news))
    two.fanOut.listen('p', (news) => heardByTwo.push(...news))
    await one.presence.announce(self, facts, 60_000)
    await one.presence.moved([{ actor: 'ses_1', machine: 'session', project: 'p', node: 'n', process: 'p' }], [])
    await one.limits.take('key', { limit: 1, windowMs: 60_000 })
    await vi.waitFor(
      () => {
        one.fanOut.publish('p', newsOf('ses_1', 1))
        expect(heardByOne.length).toBeGreaterThan(0)
      },
      { timeout: 30_000 },
    )
    expect(await two.presence.hosts()).toEqual([])
    await two.presence.announce({ ...self, process: 'q' }, facts, 60_000)
    expect(await two.presence.actors('p', 10)).toEqual([])
    expect((await two.limits.take('key', { limit: 1, windowMs: 60_000 })).allowed).toBe(true)
    expect(heardByTwo).toEqual([])
    await Promise.all([one.close(), two.close()])
  })
})

describe('a Redis that is unavailable at the start', () => {
  it('does not prevent the start of a server, and is used once it is available', async () => {
    const gone = await startRedis()
    await gone.kill9()
    const warned: string[] = []
    const log = { ...silent, warn: (_: object, message: string) => warned.push(message) }
    const opened = await openRedis({ url: gone.url, installation: 'late', log })
    expect(await opened.ping()).toBe(false)
    expect(warned).toContain('redis is away')
    expect((await opened.limits.take('key', { limit: 1, windowMs: 60_000 })).allowed).toBe(true)
    const back = await gone.restart()
    await vi.waitFor(async () => expect(await opened.ping()).toBe(true), { timeout: 60_000 })
    await opened.close()
    await back.stop()
  })
})
