import { pino } from 'pino'
import { expect, it } from 'vitest'
import { SnapshotBlobs } from '#runtime/blobs/snapshot-blobs.ts'
import { Settler } from '#runtime/commit/settler.ts'
import { type SettleWork, StoreUnavailable } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const opened = () => {
  const storage = openMemoryStorage()
  const { commits } = storage
  const settled: SettleWork[] = []
  const state = { away: true, settled, attempts: 0 }
  commits.settle = async (work) => {
    state.attempts++
    if (state.away) throw new StoreUnavailable('away')
    settled.push(work)
  }
  const clock = new VirtualClock()
  return { state, clock, settler: new Settler({ storage, clock, log: pino({ level: 'silent' }) }) }
}

const keys = (count: number) => Array.from({ length: count }, (_, at) => ({ actor: `prb_${at}`, seq: 1 }))

it('closes commits within a second of the return of the store, in the order given', async () => {
  const { state, clock, settler } = opened()
  for (const key of keys(3)) settler.close(key)
  await clock.advance(10_000)
  state.away = false
  await clock.advance(1000)
  expect(state.settled.map(({ close }) => close)).toEqual([keys(3)])
})

it('tries a store that is away again once a second, however much waits', async () => {
  const { state, clock, settler } = opened()
  for (const key of keys(2000)) settler.close(key)
  await clock.advance(0)
  const before = state.attempts
  for (const key of keys(5000)) settler.close(key)
  await clock.advance(3000)
  expect(state.attempts - before).toBeLessThanOrEqual(4)
})

it('sends what has waited for a store in statements that one takes, so that one too large does not fail for ever', async () => {
  const { state, clock, settler } = opened()
  for (const key of keys(100_000)) settler.close(key)
  await clock.advance(5000)
  state.away = false
  await clock.advance(1000)
  await settler.flush()
  const sizes = state.settled.map(({ close }) => close.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2000)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000)
})

it('keeps what the store does not accept for the next attempt, up to a limit', async () => {
  const { state, clock, settler } = opened()
  const max = 300_000
  for (const key of keys(max)) settler.close(key)
  await clock.advance(5000)
  for (const key of keys(2000)) settler.close(key)
  await clock.advance(5000)
  state.away = false
  settler.close({ actor: 'prb_last', seq: 1 })
  await clock.advance(5000)
  const closed = state.settled.flatMap(({ close }) => close)
  expect(closed.length).toBeLessThanOrEqual(max + 1)
  expect(closed.at(-1)).toEqual({ actor: 'prb_last', seq: 1 })
})

it('retires the commits of an actor whose messages have waited for long, however many', async () => {
  const { state, clock, settler } = opened()
  state.away = false
  const retiring = Array.from({ length: 200_000 }, (_, seq) => seq)
  settler.retire({ id: 'prb_1', retiring, undelivered: 0, unfinished: undefined, blobs: new SnapshotBlobs() })
  await clock.advance(2000)
  expect([retiring.length, state.settled.flatMap(({ retire }) => retire).length]).toEqual([0, 200_000])
})
