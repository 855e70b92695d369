import { describe, expect, it, vi } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { logOf, typesOf } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const id = 'prb_1'

/** Shards that the living nodes hold, once per holder. */
const claims = (nodes: readonly TestNode[]): readonly number[] =>
  nodes
    .filter(({ process }) => process.state === 'up')
    .flatMap(({ host }) => (host.ownership.shards ?? []).filter((shard) => host.ownership.epochOf(shard) !== undefined))

describe('a node whose process ends or seems to end', () => {
  it('is replaced within half a second by the other nodes of its machine', async () => {
    const cluster = new ProbeCluster()
    const nodeOf = (name: string) => cluster.nodes.find((each) => each.name === name)
    cluster.hasEnded = (name) => nodeOf(name)?.process.state === 'dead'
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const held = owner.host.ownership.shards ?? []
    owner.kill()
    await cluster.clock.advance(500)
    const taken = new Set(claims(cluster.nodes))
    expect(held.filter((shard) => !taken.has(shard))).toEqual([])
    expect(claims(cluster.nodes)).toHaveLength(shardsOf({}).count)
    expect(await cluster.during(cluster.otherThan(owner).deliver(id, { type: 'count', n: 1 }))).toMatchObject({
      duplicate: false,
    })
  })

  it('is replaced within half a second by nodes of other machines after a broken connection', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    const held = owner.host.ownership.shards ?? []
    owner.kill()
    cluster.breakConnectionsTo(owner)
    await cluster.clock.advance(500)
    const taken = new Set(claims(cluster.nodes))
    expect(held.filter((shard) => !taken.has(shard))).toEqual([])
  })

  it.each([
    ['a connection to it broke', (cluster: ProbeCluster, owner: TestNode) => cluster.breakConnectionsTo(owner)],
    ['it stands still', (_: ProbeCluster, owner: TestNode) => owner.stall()],
  ])('keeps its actors if it is alive, although %s', async (_, disturb) => {
    const cluster = new ProbeCluster()
    cluster.hasEnded = () => false
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    disturb(cluster, owner)
    await cluster.clock.advance(800)
    owner.wake()
    await cluster.clock.advance(2000)
    expect(cluster.ownerOf(id)).toBe(owner)
  })

  it('keeps shards and loses no write when its machine wrongly reports its end', async () => {
    const cluster = new ProbeCluster()
    const wrong = { about: '' }
    cluster.hasEnded = (name) => name === wrong.about
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    wrong.about = owner.name
    for (let n = 1; n <= 40; n++) {
      const delivering = cluster.nodes[n % 3]?.deliver(id, { type: 'count', n: 1 }, `count-${n}`)
      await cluster.during(delivering ?? Promise.resolve(null))
      await cluster.clock.advance(500)
    }
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(Array.from({ length: 40 }, () => 'counted'))
    expect(claims(cluster.nodes)).toHaveLength(shardsOf({}).count)
    expect(owner.host.ownership.shards?.length).toBeGreaterThan(0)
  })
})
