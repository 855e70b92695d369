import { expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, type Probe, read } from '../probe.ts'

const id = 'prb_1'

/** Two processes on one store; the old one has its own clock. */
const replaced = async (before: (old: Probe) => Promise<unknown> = async () => {}) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const oldClock = new VirtualClock()
  const old = await openProbe({ storage: faulty.storage, clock: oldClock })
  await old.create(id)
  await before(old)
  const next = await openProbe({ storage: faulty.inner })
  return { faulty, old, oldClock, next }
}

it('writes nothing a second after a later process has started, not even for untouched actors', async () => {
  const { faulty, old, oldClock } = await replaced()
  await oldClock.advance(1500)
  await expect(old.deliver(id, { type: 'count' })).rejects.toThrow(StoreUnavailable)
  expect(await logOf(faulty.inner, id)).toEqual([])
})

it('checks the epoch before its first write after a stall, also for an actor whose log is gone', async () => {
  const { faulty, old, oldClock } = await replaced()
  await faulty.inner.commits.forget(id)
  faulty.unreadable = true
  await oldClock.leap(60_000)
  faulty.unreadable = false
  await expect(old.deliver(id, { type: 'count' })).rejects.toThrow(StoreUnavailable)
  expect(await faulty.inner.commits.head(id)).toBeNull()
})

it('ends effects and streams, and reports that it was replaced', async () => {
  const { old, oldClock } = await replaced((before) => before.deliver(id, { type: 'work', policy: 'idempotent' }))
  const reader = read(old.host.feed.follow(id, 0, { at: 'never' }))
  let said = false
  void old.runtime.replaced.then(() => {
    said = true
  })
  await calm()
  expect(old.host.effects.running).toBe(1)
  expect(said).toBe(false)
  await oldClock.advance(1500)
  expect(said).toBe(true)
  expect(reader.ended).toBe('lost')
  expect(old.host.effects.running).toBe(0)
})

it('continues as before after the store was unreachable for a while', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const clock = new VirtualClock()
  const probe = await openProbe({ storage: faulty.storage, clock })
  await probe.create(id)
  faulty.away = true
  await clock.advance(30_000)
  const during = probe.deliver(id, { type: 'count' }).catch((error: unknown) => error)
  await clock.advance(5000)
  expect(await during).toBeInstanceOf(StoreUnavailable)
  faulty.away = false
  await probe.deliver(id, { type: 'count' })
  expect(await logOf(faulty.inner, id)).toHaveLength(1)
})
