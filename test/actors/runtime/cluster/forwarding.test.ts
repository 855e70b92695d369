import { describe, expect, it, vi } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { projectScope } from '#storage/scope.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, owner, probeRows, typesOf } from '../probe.ts'
import { ProbeCluster } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const ids = Array.from({ length: 12 }, (_, i) => `prb_${i}`)

it('spreads the shards over the nodes, and each shard is held by one node', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(3)
  const held = nodes.map(({ host }) => host.ownership.shards ?? [])
  expect(held.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: shardsOf({}).count }, (_, shard) => shard))
  for (const shards of held) expect(shards.length).toBeGreaterThan(50)
})

it('serves any actor at any node, and processes each delivery once', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(3)
  for (const [i, id] of ids.entries()) {
    const [first, second] = [nodes[i % 3], nodes[(i + 1) % 3]]
    await first?.create(id)
    await second?.deliver(id, { type: 'count', n: 1 })
    const delivered = await first?.deliver(id, { type: 'count', n: 2 }, `same/${id}`)
    expect(delivered).toMatchObject({
      duplicate: false,
      commit: { events: [{ event_type: 'counted', payload: { n: 2 } }] },
    })
    const again = await second?.deliver(id, { type: 'count', n: 2 }, `same/${id}`)
    expect(again).toMatchObject({ duplicate: true, commit: { events: [{ payload: { n: 2 } }] } })
    expect((await first?.find(id))?.state.snapshot.context).toMatchObject({ count: 2 })
  }
  for (const id of ids) expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted', 'counted'])
  expect(cluster.requests.filter(({ kind }) => kind === 'deliver').length).toBeGreaterThan(10)
})

it('refuses at every node what the machine refuses', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(2)
  await cluster.ownerOf('prb_1').create('prb_1')
  for (const node of nodes) {
    await expect(node.deliver('prb_1', { type: 'refuse' })).rejects.toMatchObject({ code: 'invalid_transition' })
    await expect(node.find('prb_unknown')).rejects.toMatchObject({ code: 'not_found' })
  }
})

describe('lists', () => {
  const rowsIn = (cluster: ProbeCluster) => cluster.storage.records.count(probeRows, projectScope(owner.project))

  it('include what any node has acknowledged', async () => {
    const cluster = new ProbeCluster()
    const nodes = await cluster.startAll(3)
    for (const [i, id] of ids.entries()) await cluster.ownerOf(id).create(id, `create/${i}`)
    const [first] = nodes
    await first?.host.rows.shown()
    expect(await rowsIn(cluster)).toBe(ids.length)
  })

  it('include an actor that another actor requests, on whichever node it is made', async () => {
    const cluster = new ProbeCluster()
    const nodes = await cluster.startAll(3)
    const sender = cluster.ownerOf('prb_1')
    const made = ids.filter((id) => cluster.ownerOf(id) !== sender).slice(0, 4)
    expect(new Set(made.map((id) => cluster.ownerOf(id).name)).size).toBe(2)
    await sender.create('prb_1')
    const gate = Promise.withResolvers<void>()
    cluster.onRequest = ({ kind }) => (kind === 'create' ? gate.promise : undefined)
    const messages = made.map((to) => ({ to, event: { type: 'create', input: {} } }))
    await sender.deliver('prb_1', { type: 'send', messages })
    const shown = Promise.all(nodes.map(({ host }) => host.rows.shown()))
    await calm()
    gate.resolve()
    await shown
    expect(await rowsIn(cluster)).toBe(1 + made.length)
  })

  it('do not wait longer than a second for an actor that cannot be made', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const sender = cluster.ownerOf('prb_1')
    await sender.create('prb_1')
    const [to = ''] = ids.filter((id) => cluster.ownerOf(id) !== sender)
    cluster.onRequest = ({ kind }) => (kind === 'create' ? new Promise<never>(() => {}) : undefined)
    await sender.deliver('prb_1', { type: 'send', messages: [{ to, event: { type: 'create', input: {} } }] })
    await cluster.during(sender.host.rows.shown(), 1100)
    expect(await rowsIn(cluster)).toBe(1)
  })

  it('do not wait for a node that does not answer', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const asker = cluster.ownerOf('prb_1')
    await asker.create('prb_1')
    cluster.otherThan(asker).stall()
    await cluster.during(asker.host.rows.shown(), 500)
    expect(await rowsIn(cluster)).toBe(1)
  })

  it('send one request for all concurrent readers, and another for those that come later', async () => {
    const cluster = new ProbeCluster()
    const [first] = await cluster.startAll(2)
    const forwardCount = () => cluster.requests.filter(({ kind }) => kind === 'rows').length
    const before = forwardCount()
    await Promise.all(Array.from({ length: 50 }, () => first?.host.rows.shown()))
    expect(forwardCount() - before).toBe(1)
    const answers = Promise.withResolvers<void>()
    cluster.onRequest = ({ kind }) => (kind === 'rows' ? answers.promise : undefined)
    const early = first?.host.rows.shown()
    await calm()
    const late = first?.host.rows.shown()
    answers.resolve()
    await Promise.all([early, late])
    expect(forwardCount() - before).toBe(3)
  })
})

it('makes new actors in a shard of the node that creates them', async () => {
  const cluster = new ProbeCluster()
  const nodes = await cluster.startAll(3)
  for (const node of nodes) {
    for (let n = 0; n < 20; n++) expect(cluster.ownerOf(node.host.newActorId('prb'))).toBe(node)
  }
})
