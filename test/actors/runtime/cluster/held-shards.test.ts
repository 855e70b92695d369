import { describe, expect, it } from 'vitest'
import { HeldShards, leaseMs, marginMs } from '#runtime/cluster/held-shards.ts'
import { NotOwner } from '#runtime/commit/superseded.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Commit } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const shard = 7
const goodMs = leaseMs - marginMs
const lease = (epoch: number) => ({ shard, holder: 'a', address: 'a:1', epoch, leftMs: leaseMs })

const opened = () => {
  const clock = new VirtualClock()
  const held = new HeldShards(3, clock, shardsOf({}))
  return { clock, held }
}

const commit = (epoch: number): Commit => ({
  ...{ actor: 'prb_1', seq: 1, shard, epoch, at: 1, project: 'prj_1', tenant: null, machine: 'probe@1', cause: 'c' },
  ...{ nonce: 'n', event: { type: 'e' }, events: [], last_sequence: 0, effects: [], messages: [], snapshot: {} },
  ...{ reminders: {}, in_flight: {}, open: true, due: null },
})

describe('a lease', () => {
  it('is valid from the time its renewal was sent until a second before it expires', async () => {
    const { clock, held } = opened()
    const requestedAt = clock.steady()
    await clock.leap(500)
    expect(held.take(lease(4), requestedAt)).toBe(true)
    expect(held.epochOf(shard)).toBe(4)
    await clock.leap(goodMs - 501)
    expect(held.epochOf(shard)).toBe(4)
    await clock.leap(1)
    expect([held.epochOf(shard), held.heldUnder(shard)]).toEqual([undefined, 4])
    expect(held.take(lease(4), clock.steady())).toBe(false)
    expect(held.epochOf(shard)).toBe(4)
  })

  it.each([-60_000, 60_000])('is valid equally long when the wall clock is set by %i ms', async (ms) => {
    const { clock, held } = opened()
    held.take(lease(4), clock.steady())
    clock.set(ms)
    expect(held.epochOf(shard)).toBe(4)
    await clock.leap(goodMs)
    expect(held.epochOf(shard)).toBeUndefined()
  })

  it('counts as new only under a new epoch, and is gone when it is dropped', () => {
    const { clock, held } = opened()
    held.take(lease(4), clock.steady())
    expect(held.take(lease(5), clock.steady())).toBe(true)
    expect(held.shards).toEqual([shard])
    held.close(shard)
    expect([held.opens(shard), held.epochOf(shard)]).toEqual([false, 5])
    held.drop(shard)
    expect([held.opens(shard), held.heldUnder(shard), held.shards]).toEqual([false, undefined, []])
    held.take(lease(6), clock.steady())
    expect(held.opens(shard)).toBe(true)
  })

  it('states when no other process can be active: at once under the first epoch', () => {
    const { clock, held } = opened()
    held.take(lease(1), clock.steady())
    expect(held.aloneFrom(shard)).toBe(0)
    held.take(lease(2), clock.steady())
    expect(held.aloneFrom(shard)).toBeGreaterThan(clock.now() + leaseMs)
  })
})

describe('the guarded store', () => {
  it('accepts commits of held shards under their epoch, and refuses all others without a write', async () => {
    const { clock, held } = opened()
    const { commits } = openMemoryStorage()
    let doubts = 0
    const guarded = held.guarded(commits, () => doubts++)
    await expect(guarded.append([commit(4)])).rejects.toBeInstanceOf(NotOwner)
    held.take(lease(4), clock.steady())
    await expect(guarded.append([commit(3)])).rejects.toBeInstanceOf(NotOwner)
    expect(await commits.head('prb_1')).toBeNull()
    await clock.leap(goodMs)
    expect(await guarded.append([commit(4)])).toEqual(['unknown'])
    expect([doubts, await commits.head('prb_1')]).toEqual([1, null])
    held.take(lease(4), clock.steady())
    expect(await guarded.append([commit(4)])).toEqual(['done'])
    expect(await guarded.head('prb_1')).toMatchObject({ epoch: 4 })
  })
})
