import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Plan, patienceMs, planFor, type Situation } from '#runtime/cluster/placement.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Lease, Member } from '#storage/cluster-ports.ts'

const shards = shardsOf({}).all()
const processes = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 })

const lease = (shard: number, holder: string | null, leftMs = 3000): Lease => ({
  shard,
  holder,
  address: holder,
  epoch: 7,
  leftMs,
})

const member = (process: string, draining = false): Member => ({
  ...{ process, node: process, address: `${process}:1`, draining, startedAt: 1, machines: {}, readableBy: {} },
})

const situation = ({ live = ['a'], ...given }: Partial<Situation> & { readonly live?: readonly string[] }) => ({
  self: 'a',
  members: live.map((process) => member(process)),
  leases: shards.map(() => undefined),
  isGone: () => false,
  freeMs: () => 0,
  absentMs: () => 0,
  isSettled: () => true,
  ...given,
})

const claimedOf = ({ claims }: Plan): readonly number[] => claims.map(({ shard }) => shard).sort((a, b) => a - b)

/** Processes that act by their plans, in turn, on a lease table that each reads as it is. */
class Table {
  readonly leases: (Lease | undefined)[]
  moved = 0

  constructor(count = shards.length) {
    this.leases = new Array(count).fill(undefined)
  }

  act(self: string, live: readonly string[]): void {
    const { claims, handOver } = planFor(situation({ self, live, leases: this.leases }))
    for (const { count, among } of handOver)
      for (const shard of among.slice(0, count)) this.leases[shard] = lease(shard, null)
    for (const { shard } of claims) this.leases[shard] = lease(shard, self)
    this.moved += claims.length
  }

  /** Lets all act until nothing changes. @returns how many shards moved. */
  settle(live: readonly string[]): number {
    const before = this.moved
    for (const each of this.leases) {
      if (each !== undefined && !live.includes(each.holder ?? '')) this.leases[each.shard] = lease(each.shard, null)
    }
    for (let moved = -1; moved !== this.moved; ) {
      moved = this.moved
      for (const self of live) this.act(self, live)
    }
    return this.moved - before
  }

  counts(live: readonly string[]): readonly number[] {
    return live.map((process) => this.leases.filter((each) => each?.holder === process).length)
  }
}

const spreadOf = (counts: readonly number[]): number => Math.max(...counts) - Math.min(...counts)

describe('the shards that a process claims', () => {
  it('are all shards when it is alone, including those that were never held', () => {
    expect(planFor(situation({})).claims).toEqual(shards.map((shard) => ({ shard, epoch: 0, leftMs: 0 })))
  })

  it('are its share of the free and expired shards; no other process claims the same', () => {
    const live = ['a', 'b', 'c']
    const leases = shards.map((shard) => (shard % 2 ? lease(shard, null) : lease(shard, 'gone', 0)))
    const claimed = live.map((self) => claimedOf(planFor(situation({ self, live, leases }))))
    expect(claimed.flat().sort((a, b) => a - b)).toEqual(shards)
    expect(spreadOf(claimed.map(({ length }) => length))).toBeLessThan(2)
  })

  it('are those of a process that leaves them free too, and at last all', () => {
    const live = ['a', 'b', 'c']
    const leases = shards.map((shard) => lease(shard, null))
    const claimed = (waitedMs: number) =>
      ['a', 'b'].map((self) => claimedOf(planFor(situation({ self, live, leases, freeMs: () => waitedMs }))))
    const [first = [], second = []] = claimed(patienceMs + 1)
    expect(new Set([...first, ...second]).size).toBe(shards.length)
    expect(first.length + second.length).toBeLessThan(2 * shards.length)
    expect(claimed(2 * patienceMs + 1)).toEqual([shards, shards])
  })

  it('are none that another process holds, unless that process is gone', () => {
    const leases = shards.map((shard) => lease(shard, 'b', 2500))
    expect(planFor(situation({ leases })).claims).toEqual([])
    const { claims } = planFor(situation({ leases, isGone: (process) => process === 'b' }))
    expect(claims).toEqual(shards.map((shard) => ({ shard, epoch: 7, leftMs: 2500 })))
  })

  it('are none while it drains', () => {
    const leases = shards.map((shard) => (shard % 2 ? lease(shard, 'a') : lease(shard, null)))
    const members = [member('a', true), member('b')]
    expect(planFor(situation({ members, leases }))).toEqual({ claims: [], handOver: [] })
  })
})

describe('the shards that a process hands over', () => {
  it('are the share of another process, once that one has been there for a while', () => {
    const live = ['a', 'b']
    const leases = shards.map((shard) => lease(shard, 'a'))
    expect(planFor(situation({ live, leases })).handOver).toEqual([{ count: shards.length / 2, among: shards }])
    expect(planFor(situation({ live, leases, isSettled: () => false })).handOver).toEqual([])
  })

  it('are none of another process, and none while each has as many as the others', () => {
    const live = ['a', 'b']
    expect(planFor(situation({ live, leases: shards.map((shard) => lease(shard, 'b')) })).handOver).toEqual([])
    const even = shards.map((shard) => lease(shard, shard % 2 ? 'a' : 'b'))
    expect(planFor(situation({ live, leases: even })).handOver).toEqual([])
  })

  it('are none while a process of an earlier release is there, which would hand them back', () => {
    const { readableBy: _, ...earlier } = member('b')
    const leases = shards.map((shard) => lease(shard, 'a'))
    expect(planFor(situation({ members: [member('a'), earlier], leases })).handOver).toEqual([])
  })
})

it('settles: every process ends with as many shards as any other, whichever acts first', () => {
  fc.assert(
    fc.property(processes, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (live, order) => {
      const table = new Table()
      for (const turn of order) table.act(live[turn % live.length] ?? '', live)
      table.settle(live)
      expect(table.counts(live).reduce((sum, each) => sum + each, 0)).toBe(shards.length)
      expect(spreadOf(table.counts(live))).toBeLessThan(2)
    }),
    { numRuns: 50 },
  )
})

it('moves only the share of a process that joins or leaves, among 50 with 1,024 shards', () => {
  const live = Array.from({ length: 50 }, (_, i) => `node-${i}.${i + 1}`)
  const table = new Table(1024)
  table.settle(live)
  const share = 1024 / 50
  const imbalance = Math.max(...table.counts(live)) / share
  const joined = table.settle([...live, 'node-50.51'])
  const left = table.settle([...live.slice(1), 'node-50.51'])
  console.info(`50 nodes: ${joined} shards move when one joins, ${left} when one leaves; imbalance ${imbalance}`)
  expect(imbalance).toBeLessThanOrEqual(1.15)
  expect(joined).toBeLessThanOrEqual(Math.ceil(share))
  expect(left).toBeLessThanOrEqual(Math.ceil(share))
})
