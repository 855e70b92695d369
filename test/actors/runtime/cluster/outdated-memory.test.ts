import { describe, expect, it, vi } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { type Reader, read, typesOf } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const id = 'prb_1'
const idle = { at: 'idle' } as const

/** A node that was stopped until another one had taken over, and runs again without having reached the leases. */
const woken = async () => {
  const cluster = new ProbeCluster()
  await cluster.startAll(2)
  const node = cluster.ownerOf(id)
  await node.create(id)
  await node.deliver(id, { type: 'count', n: 1 })
  node.stall()
  const others = () => cluster.nodes.filter((each) => each !== node)
  const isTaken = () => others().some(({ host }) => host.ownership.heldUnder(shardsOf({}).of(id)) !== undefined)
  while (!isTaken()) await cluster.clock.advance(50)
  const next = cluster.otherThan(node)
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const renew = cluster.leases.renew.bind(cluster.leases)
  cluster.leases.renew = async (self, ms) => {
    if (self.node === node.name) await reached
    return renew(self, ms)
  }
  const knowsBetter = (): boolean => node.host.ownership.heldUnder(shardsOf({}).of(id)) === undefined
  return { cluster, node, next, reach, knowsBetter }
}

const follow = (node: TestNode): Reader => read(node.host.feed.follow(id, 1, idle))
const sequences = (events: readonly { readonly sequence: number }[]) => events.map(({ sequence }) => sequence)

describe('a node that was stopped until another one had taken over its actors', () => {
  it('reads the log of an actor that a request has found from the store, not from memory', async () => {
    const { cluster, node, next, knowsBetter } = await woken()
    await next.deliver(id, { type: 'count', n: 2 })
    node.wake()
    expect((await cluster.during(node.find(id))).state.lastSequence).toBe(2)
    const events = await cluster.during(Promise.resolve(node.host.readLog(id, 0)))
    expect(knowsBetter()).toBe(false)
    expect(typesOf(events)).toEqual(['counted', 'counted'])
  })

  it('ends no stream of a repeated request because of its outdated state', async () => {
    const { cluster, node, next, reach, knowsBetter } = await woken()
    await next.deliver(id, { type: 'wait', ms: 20_000 })
    await next.deliver(id, { type: 'back' }, 'once')
    await next.deliver(id, { type: 'wait', ms: 20_000 })
    node.wake()
    const repeated = await cluster.during(node.host.deliver(id, { event: { type: 'back' }, cause: 'once' }))
    expect(repeated.duplicate).toBe(true)
    const reader = follow(node)
    await cluster.clock.advance(200)
    expect(knowsBetter()).toBe(false)
    expect(reader.ended).toBeUndefined()
    reach()
    await cluster.clock.advance(25_000)
    expect(reader).toMatchObject({ ended: 'done', events: [{ event_type: 'woke' }] })
  })

  it('keeps a lease that it renews before another node breaks it', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const node = cluster.ownerOf(id)
    const epoch = node.host.ownership.heldUnder(shardsOf({}).of(id))
    await node.create(id)
    const acquire = cluster.leases.acquire.bind(cluster.leases)
    let late = 0
    cluster.leases.acquire = async (self, claims, term) => {
      if (claims.some(({ shard }) => shard === shardsOf({}).of(id)) && late++ === 0) {
        // it runs again after its silence was noticed
        node.wake()
        await calm()
      }
      return acquire(self, claims, term)
    }
    node.stall()
    await cluster.clock.advance(10_000)
    expect(late).toBeGreaterThan(0)
    expect(node.host.ownership.heldUnder(shardsOf({}).of(id))).toBe(epoch)
    expect((await cluster.leases.read()).leases.find(({ shard }) => shard === shardsOf({}).of(id))?.epoch).toBe(epoch)
  })
})

it('a node reads an actor from the store while it does not know whether its last write is there', async () => {
  const cluster = new ProbeCluster()
  await cluster.startAll(2)
  const owner = cluster.ownerOf(id)
  await owner.create(id)
  const { commits } = cluster.storage
  const [append, at] = [commits.append.bind(commits), commits.at.bind(commits)]
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  commits.append = async (batch) => {
    commits.append = append
    await append(batch)
    return batch.map(() => 'unknown' as const)
  }
  commits.at = async (actor, seq) => {
    await answered
    return at(actor, seq)
  }
  const delivering = owner.deliver(id, { type: 'count', n: 1 })
  await calm()
  expect((await owner.find(id)).state.lastSequence).toBe(1)
  expect(sequences(await owner.host.readLog(id, 0))).toEqual([1])
  answer()
  expect(await delivering).toMatchObject({ duplicate: false })
  expect((await owner.find(id)).dead).toBe(false)
})

describe('a node that follows an actor of another one', () => {
  it('reads the log as far as a request has found it, whatever news has arrived', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    const other = cluster.otherThan(owner)
    await owner.create(id)
    await owner.deliver(id, { type: 'wait', ms: 60_000 })
    read(other.host.feed.follow(id, 0, { at: 'never' }))
    await cluster.clock.advance(500)
    await owner.deliver(id, { type: 'count', n: 1 })
    await cluster.clock.advance(100)
    cluster.exchange.send = () => {}
    await owner.deliver(id, { type: 'count', n: 2 })
    await other.find(id)
    expect(sequences(await other.host.readLog(id, 0))).toEqual([1, 2])
  })

  it('follows it at its next owner as soon as that has taken it over', async () => {
    const cluster = new ProbeCluster()
    cluster.hasEnded = (name) => cluster.nodes.find((node) => node.name === name)?.process.state === 'dead'
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const readers = cluster.nodes
      .filter((node) => node !== owner)
      .map((node) => read(node.host.feed.follow(id, 0, { at: 'never' })))
    await cluster.clock.advance(3000)
    // just after a round, when the next one is a second away
    owner.kill()
    await cluster.clock.advance(500)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 1 })
    await calm()
    expect(readers.map(({ events }) => sequences(events))).toEqual([[1], [1]])
  })
})
