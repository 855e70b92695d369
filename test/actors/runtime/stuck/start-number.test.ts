import { expect, it } from 'vitest'
import { aboveAllLeases, ClusterRuns, epochs, newestStart, nextStart } from '#runtime/stuck/start-number.ts'
import { MemoryLeases } from '#test/support/memory/leases.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const opened = async () => {
  const clock = new VirtualClock()
  const leases = new MemoryLeases(clock.now)
  const storage = { ...openMemoryStorage({ now: clock.now }), leases }
  await storage.records.prepare([epochs])
  return { clock, leases, storage }
}

const member = { process: 'a.1', node: 'a', address: 'a:1', draining: false, startedAt: 1 }

it('numbers the starts of all processes, each with a different number', async () => {
  const { clock, storage } = await opened()
  expect(await newestStart(storage)).toBe(0)
  const taken = await Promise.all(Array.from({ length: 5 }, () => nextStart(storage, clock)))
  expect([...taken].sort()).toEqual([1, 2, 3, 4, 5])
  expect(await newestStart(storage)).toBe(5)
})

it('is raised above the given minimum, and continues from there', async () => {
  const { clock, storage } = await opened()
  expect(await nextStart(storage, clock)).toBe(1)
  expect(await nextStart(storage, clock, 40)).toBe(40)
  expect(await newestStart(storage)).toBe(40)
  expect(await nextStart(storage, clock)).toBe(41)
  expect(await nextStart(storage, clock, 3)).toBe(42)
})

it('lets a process without a cluster start above every earlier lease', async () => {
  const { clock, leases, storage } = await opened()
  expect(await aboveAllLeases(storage, clock)).toBe(1)
  await leases.acquire(member, [{ shard: 3, epoch: 0, leftMs: 0 }], { floor: 17, ms: 4000 })
  await leases.release(member.process, [3])
  expect(await aboveAllLeases(storage, clock)).toBe(18)
})

it('waits for the leases left by a crash, and refuses to run next to renewed leases', async () => {
  const { clock, leases, storage } = await opened()
  await leases.acquire(member, [{ shard: 3, epoch: 0, leftMs: 0 }], { floor: 17, ms: 4000 })
  const above = aboveAllLeases(storage, clock)
  await clock.advance(5000)
  expect(await above).toBe(18)
  await leases.acquire(member, [{ shard: 3, epoch: 17, leftMs: 0 }], { floor: 1, ms: 4000 })
  const refused = aboveAllLeases(storage, clock).catch((error: unknown) => error)
  for (let second = 0; second < 8; second++) {
    await leases.renew(member, 4000)
    await clock.advance(1000)
  }
  expect(await refused).toBeInstanceOf(ClusterRuns)
  expect(String(await refused)).toContain('REDIS_URL')
})
