import { describe, expect, it } from 'vitest'
import type { Member } from '#storage/cluster-ports.ts'
import { Shares } from './upgrade.ts'

/** A table in which each named process is a member that holds a number of shards. */
const tableOf = (held: Readonly<Record<string, number>>) => ({
  members: Object.keys(held).map(
    (process): Member => ({ process, node: process, address: '', draining: false, startedAt: 0 }),
  ),
  leases: Object.entries(held)
    .flatMap(([holder, count]) => Array.from({ length: count }, () => holder))
    .map((holder, shard) => ({ shard, epoch: 1, holder, address: '', leftMs: 4000 })),
})
const living = new Set(['a', 'b', 'c'])
const even = { a: 4, b: 4, c: 4 }

describe('the shares of processes', () => {
  it('are those of the fullest when another is a member for six seconds without shards of its own', () => {
    const shares = new Shares()
    shares.note(tableOf(even), living, 0)
    shares.note(tableOf({ a: 6, b: 6 }), living, 10_000)
    // `c` was cut off, and is there again
    for (const now of [10_250, 15_900]) shares.note(tableOf({ a: 6, b: 6, c: 0 }), living, now)
    expect(shares.fullest).toBe(1)
    shares.note(tableOf({ a: 6, b: 6, c: 0 }), living, 16_000)
    expect(shares.fullest).toBe(1.5)
  })
})
