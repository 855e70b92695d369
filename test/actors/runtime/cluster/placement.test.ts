import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patienceMs, planFor, preferredOwner, type Situation } from '#runtime/cluster/placement.ts'
import { shardCount } from '#runtime/recovery/shard.ts'
import type { Lease } from '#storage/cluster-ports.ts'

const shards = Array.from({ length: shardCount }, (_, shard) => shard)
const processes = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 })

const lease = (shard: number, holder: string | null, leftMs = 3000): Lease => ({
  shard,
  holder,
  address: holder,
  epoch: 7,
  leftMs,
})

const situation = (given: Partial<Situation>): Situation => ({
  self: 'a',
  live: ['a'],
  leases: shards.map(() => undefined),
  isGone: () => false,
  freeMs: () => 0,
  isSettled: () => true,
  ...given,
})

const shardsOf = (claims: readonly { readonly shard: number }[]): readonly number[] => claims.map(({ shard }) => shard)
const preferredBy = (process: string, live: readonly string[]): readonly number[] =>
  shards.filter((shard) => preferredOwner(shard, live) === process)

describe('the preferred owner of a shard', () => {
  it('does not depend on the order in which the processes are known', () => {
    fc.assert(
      fc.property(processes, fc.nat(shardCount - 1), (live, shard) => {
        expect(preferredOwner(shard, [...live].reverse())).toBe(preferredOwner(shard, live))
        expect(live).toContain(preferredOwner(shard, live))
      }),
    )
  })

  it('does not change when another process joins or leaves', () => {
    fc.assert(
      fc.property(processes, (live) => {
        const left = live.slice(1)
        for (const shard of shards) {
          const before = preferredOwner(shard, live)
          if (before !== live[0] && left.length > 0) expect(preferredOwner(shard, left)).toBe(before)
        }
      }),
    )
  })

  it('is distributed evenly over a few nodes', () => {
    for (const count of [2, 3, 5]) {
      const live = Array.from({ length: count }, (_, i) => `node-${i}.${i + 1}`)
      for (const process of live) {
        const share = preferredBy(process, live).length / (shardCount / count)
        expect(share).toBeGreaterThan(0.6)
        expect(share).toBeLessThan(1.4)
      }
    }
  })

  it('is undefined if there is no process', () => {
    expect(preferredOwner(1, [])).toBeUndefined()
  })
})

describe('the shards that a process claims', () => {
  it('are all shards when it is alone, including those that were never held', () => {
    const { claims } = planFor(situation({}))
    expect(claims).toEqual(shards.map((shard) => ({ shard, epoch: 0, leftMs: 0 })))
  })

  it('are its share of the free and expired shards, and the rest if they stay free for a while', () => {
    const live = ['a', 'b']
    const leases = shards.map((shard) => (shard % 2 ? lease(shard, null) : lease(shard, 'c', 0)))
    const mine = preferredBy('a', live)
    expect(shardsOf(planFor(situation({ live, leases })).claims)).toEqual(mine)
    const late = planFor(situation({ live, leases, freeMs: () => patienceMs + 1 }))
    expect(shardsOf(late.claims)).toEqual(shards)
    expect(late.claims.every(({ epoch, leftMs }) => epoch === 7 && leftMs === 0)).toBe(true)
  })

  it('are none that another process holds, unless that process is gone', () => {
    const leases = shards.map((shard) => lease(shard, 'b', 2500))
    expect(planFor(situation({ leases })).claims).toEqual([])
    const { claims } = planFor(situation({ leases, isGone: (process) => process === 'b' }))
    expect(claims).toEqual(shards.map((shard) => ({ shard, epoch: 7, leftMs: 2500 })))
  })

  it('are none while it drains', () => {
    const leases = shards.map((shard) => (shard % 2 ? lease(shard, 'a') : lease(shard, null)))
    expect(planFor(situation({ live: ['b'], leases }))).toEqual({ claims: [], handOver: [] })
  })
})

describe('the shards that a process hands over', () => {
  it('are the share of another process, once that one has been there for a while', () => {
    const live = ['a', 'b']
    const leases = shards.map((shard) => lease(shard, 'a'))
    expect(planFor(situation({ live, leases })).handOver).toEqual(preferredBy('b', live))
    expect(planFor(situation({ live, leases, isSettled: () => false })).handOver).toEqual([])
  })

  it('are none that it does not hold', () => {
    const live = ['a', 'b']
    const leases = shards.map((shard) => lease(shard, 'b'))
    expect(planFor(situation({ live, leases })).handOver).toEqual([])
  })
})

it('settles: every shard ends with its preferred owner, whichever process acts first', () => {
  fc.assert(
    fc.property(processes, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (live, order) => {
      const leases: (Lease | undefined)[] = shards.map(() => undefined)
      const act = (self: string): void => {
        const { claims, handOver } = planFor(situation({ self, live, leases }))
        for (const shard of handOver) leases[shard] = lease(shard, null)
        for (const { shard } of claims) leases[shard] = lease(shard, self)
      }
      for (const turn of order) act(live[turn % live.length] ?? '')
      for (let round = 0; round < 2; round++) for (const self of live) act(self)
      expect(leases.map((each) => each?.holder)).toEqual(shards.map((shard) => preferredOwner(shard, live)))
    }),
  )
})
