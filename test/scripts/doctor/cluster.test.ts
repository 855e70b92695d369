import { describe, expect, it } from 'vitest'
import { clusterFound } from '#scripts/doctor/cluster-check.ts'
import type { Lease, Member } from '#storage/cluster-ports.ts'

const member = (name: string, change: Partial<Member> = {}): Member => ({
  process: `${name}-process`,
  node: name,
  address: '10.0.0.1:7946',
  draining: false,
  startedAt: 0,
  ...change,
})

const held = (holder: string | null, shards: readonly number[], leftMs = 3_000): readonly Lease[] =>
  shards.map((shard) => ({ shard, holder, address: null, epoch: 1, leftMs }))

const shards = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

const said = (leases: readonly Lease[], members: readonly Member[], isCluster = true) =>
  clusterFound({ leases, members }, isCluster).map(({ name, status, says }) => `${name} ${status}: ${says}`)

describe("the doctor's check of a cluster", () => {
  it('lists the nodes with their shards, and is ok if every shard is owned', () => {
    const leases = [...held('a-process', shards(0, 100)), ...held('b-process', shards(100, 256))]
    expect(said(leases, [member('a'), member('b', { draining: true })])).toEqual([
      'nodes ok: a at 10.0.0.1:7946 (100 shards), b at 10.0.0.1:7946 (156 shards, draining)',
      'leases ok: all 256 shards are owned',
    ])
  })

  it('counts shards that are free, expired or owned by a process that does not run', () => {
    const leases = [
      ...held('a-process', shards(0, 200)),
      ...held(null, shards(200, 210)),
      ...held('a-process', shards(210, 220), -1),
      ...held('gone', shards(220, 230)),
    ]
    expect(said(leases, [member('a')])[1]).toBe('leases warning: 56 of 256 shards are not owned by a running node')
  })

  it('warns of two nodes with the same name', () => {
    const findings = said(held('a-process', shards(0, 256)), [member('a'), member('a', { process: 'other' })])
    expect(findings[0]).toMatch(/^nodes warning: .*: a is there twice$/)
  })

  it('warns if a cluster uses the store that this environment would start a single server on', () => {
    expect(said(held('a-process', shards(0, 256)), [member('a')], false)).toEqual([
      'nodes warning: a cluster runs on this store: a at 10.0.0.1:7946 (256 shards)',
    ])
  })

  it('finds nothing for a store without a cluster, and reports a cluster without running nodes', () => {
    expect(said([], [], false)).toEqual([])
    expect(said([], [])).toEqual(['nodes ok: none runs on this store now'])
  })
})
