import { expect, it, vi } from 'vitest'
import { shardCount } from '../../../../src/actors/runtime/shard.ts'
import { logOf, typesOf } from '../probe.ts'
import { ProbeCluster } from './probe-cluster.ts'

// time is virtual, and a busy machine slow
vi.setConfig({ testTimeout: 60_000 })

const ids = Array.from({ length: 12 }, (_, i) => `prb_${i}`)

it('spreads the shards over the nodes, each held once', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(3)
  const held = nodes.map(({ host }) => host.ownership.shards ?? [])
  expect(held.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: shardCount }, (_, shard) => shard))
  for (const shards of held) expect(shards.length).toBeGreaterThan(50)
})

it('serves any actor at any node, each step done once', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(3)
  for (const [i, id] of ids.entries()) {
    const [first, second] = [nodes[i % 3], nodes[(i + 1) % 3]]
    await first?.create(id)
    await second?.tell(id, { type: 'count', n: 1 })
    const told = await first?.tell(id, { type: 'count', n: 2 }, `same/${id}`)
    expect(told).toMatchObject({ duplicate: false, commit: { events: [{ event_type: 'counted', payload: { n: 2 } }] } })
    const again = await second?.tell(id, { type: 'count', n: 2 }, `same/${id}`)
    expect(again).toMatchObject({ duplicate: true, commit: { events: [{ payload: { n: 2 } }] } })
    expect((await first?.find(id))?.state.snapshot.context).toMatchObject({ count: 2 })
  }
  for (const id of ids) expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted', 'counted'])
  expect(cluster.asked.filter(({ kind }) => kind === 'deliver').length).toBeGreaterThan(10)
})

it('refuses at any node what the machine refuses', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(2)
  await cluster.ownerOf('prb_1').create('prb_1')
  for (const node of nodes) {
    await expect(node.tell('prb_1', { type: 'refuse' })).rejects.toMatchObject({ code: 'invalid_transition' })
    await expect(node.find('prb_unknown')).rejects.toMatchObject({ code: 'not_found' })
  }
})
