import { describe, expect, it, vi } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { forever, logOf, type Run, read, typesOf } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const id = 'prb_1'

/** Shards that the living nodes hold, once per holder. */
const claims = (nodes: readonly TestNode[]): readonly number[] =>
  nodes
    .filter(({ process }) => process.state === 'up')
    .flatMap(({ host }) => (host.ownership.shards ?? []).filter((shard) => host.ownership.epochOf(shard) !== undefined))

describe('when a node dies', () => {
  it('another node takes over its actors within three seconds and resumes their effects', async () => {
    const ran: string[] = []
    const work: Run = async ({ n }, context) => {
      ran.push(`${n}`)
      return n === 'hangs' && ran.length === 1 ? forever({}, context) : { event: { type: 'worked', output: 'done' } }
    }
    const cluster = new ProbeCluster({ work })
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.deliver(id, { type: 'work', n: 'hangs', policy: 'idempotent' })
    await calm()
    expect(ran).toEqual(['hangs'])
    owner.kill()
    await cluster.clock.advance(3000)
    expect(cluster.ownerOf(id)).not.toBe(owner)
    expect(ran).toEqual(['hangs', 'hangs'])
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['worked'])
  })

  it('it loads the actors that its streams follow some at a time, and every stream goes on', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const one = cluster.ownerOf(id)
    const ids = Array.from({ length: 300 }, (_, n) => `prb_${n}`)
    const owned = ids.filter((each) => cluster.ownerOf(each) !== one)
    for (const each of owned) await cluster.ownerOf(each).create(each)
    const readers = owned.map((each) => read(one.host.feed.follow(each, 0, { at: 'never' })))
    await calm()
    let [reading, most] = [0, 0]
    const head = cluster.storage.commits.head.bind(cluster.storage.commits)
    vi.spyOn(cluster.storage.commits, 'head').mockImplementation(async (actor) => {
      most = Math.max(most, ++reading)
      return await head(actor).finally(() => reading--)
    })
    cluster.otherThan(one).kill()
    await cluster.clock.advance(3000)
    expect(owned.length).toBeGreaterThan(96)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(32)
    for (const each of owned) await one.deliver(each, { type: 'count', n: 1 })
    await calm()
    for (const { events } of readers) expect(events.map((event) => event.event_type)).toEqual(['counted'])
  })

  it('a call that it had started is not repeated', async () => {
    let runs = 0
    const cluster = new ProbeCluster({
      work: (params, context) => (runs++ ? Promise.reject() : forever(params, context)),
    })
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.deliver(id, { type: 'work', policy: 'at_most_once' })
    await calm()
    owner.kill()
    await cluster.clock.advance(3000)
    expect(runs).toBe(1)
    expect(await logOf(cluster.storage, id)).toMatchObject([{ event_type: 'worked', payload: { output: 'unknown' } }])
  })

  it('a waiting request is processed once by another node', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    const asker = cluster.otherThan(owner)
    await owner.create(id)
    owner.kill()
    const delivered = await cluster.during(asker.deliver(id, { type: 'count', n: 1 }, 'once'))
    expect(delivered).toMatchObject({ duplicate: false })
    expect(await cluster.during(asker.deliver(id, { type: 'count', n: 1 }, 'once'))).toMatchObject({ duplicate: true })
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })

  it('a request that a stopped node does not answer is answered by the next owner', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    owner.stall()
    await cluster.clock.advance(200)
    const delivering = cluster.otherThan(owner).deliver(id, { type: 'count', n: 1 }, 'once')
    expect(await cluster.during(delivering, 4900)).toMatchObject({ duplicate: false })
    owner.wake()
    await cluster.clock.advance(2000)
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })

  it('its reminders are delivered by another node', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.deliver(id, { type: 'wait', ms: 5000 })
    owner.kill()
    await cluster.clock.advance(8000)
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['woke'])
  })

  it('its leases expire and are taken over without a directory', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    cluster.presence.up = false
    cluster.exchange.up = false
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    owner.kill()
    await cluster.clock.advance(2500)
    expect(() => cluster.ownerOf(id)).toThrow()
    await cluster.clock.advance(5000)
    await cluster.ownerOf(id).deliver(id, { type: 'count' })
    expect(claims(cluster.nodes)).toHaveLength(shardsOf({}).count)
  })

  it('a new process at its address takes over its shards', async () => {
    const cluster = new ProbeCluster()
    const [only] = await cluster.startAll(1)
    await only?.create(id)
    only?.kill()
    const next = await cluster.start('n1')
    await cluster.during(next.deliver(id, { type: 'count' }), 4500)
    await cluster.clock.advance(2000)
    expect(claims(cluster.nodes)).toHaveLength(shardsOf({}).count)
  })
})

describe('a node that was stopped for longer than its lease', () => {
  it('aborts the effects of the actors it lost, and forwards requests to their new owner', async () => {
    const aborted: boolean[] = []
    const runs: string[] = []
    const work: Run = (params, context) => {
      runs.push(context.idempotencyKey)
      context.signal.addEventListener('abort', () => aborted.push(true))
      return runs.length === 1
        ? forever(params, context)
        : Promise.resolve({ event: { type: 'worked', output: 'next' } })
    }
    const cluster = new ProbeCluster({ work })
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.deliver(id, { type: 'work', policy: 'idempotent' })
    await calm()
    owner.stall()
    await cluster.clock.advance(6000)
    const next = cluster.ownerOf(id)
    await next.deliver(id, { type: 'count', n: 2 })
    owner.wake()
    const delivered = await cluster.during(owner.deliver(id, { type: 'count', n: 3 }))
    expect(delivered.commit?.epoch).toBe(next.host.ownership.heldUnder(shardsOf({}).of(id)))
    expect(aborted).toEqual([true])
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['worked', 'counted', 'counted'])
  })

  it('writes nothing under its old epoch', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const actor = await owner.find(id)
    const epoch = owner.host.ownership.heldUnder(shardsOf({}).of(id))
    owner.stall()
    await cluster.clock.advance(6000)
    const taken = cluster.storage.commits.append.bind(cluster.storage.commits)
    const late: number[] = []
    cluster.storage.commits.append = (batch) => {
      for (const commit of batch) if (commit.epoch === epoch && commit.actor === id) late.push(commit.seq)
      return taken(batch)
    }
    // before it has looked at anything
    const delivering = owner.host.deliverTo(actor, { event: { type: 'count', n: 1 }, cause: 'late' })
    owner.wake()
    await cluster.during(delivering)
    expect(late).toEqual([])
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })

  it('refuses no event because of its outdated state', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const actor = await owner.find(id)
    owner.stall()
    await cluster.clock.advance(6000)
    await cluster.ownerOf(id).deliver(id, { type: 'wait', ms: 60_000 })
    // in its outdated state there is nothing to go back from
    const delivering = owner.host.deliverTo(actor, { event: { type: 'back' }, cause: 'back' })
    owner.wake()
    expect((await cluster.during(delivering)).commit).toMatchObject({ cause: 'back' })
  })

  it('reads actors from the store, not from memory, until its lease is confirmed', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    owner.stall()
    await cluster.clock.advance(6000)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 1 })
    const finding = owner.find(id)
    owner.wake()
    expect((await cluster.during(finding)).state.snapshot.context).toMatchObject({ count: 1 })
  })

  it('keeps no actor that it was loading when the shard moved', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    await owner.host.rows.settled()
    const resident = owner.host.resident(id)
    expect(resident && owner.host.passivate(resident)).toBe(true)
    const gate = Promise.withResolvers<void>()
    const head = cluster.storage.commits.head.bind(cluster.storage.commits)
    cluster.storage.commits.head = async (actor) => {
      const read = head(actor)
      cluster.storage.commits.head = head
      await gate.promise
      return read
    }
    const loading = owner.find(id)
    await taken(cluster, owner)
    await cluster.during(cluster.ownerOf(id).deliver(id, { type: 'count', n: 1 }))
    gate.resolve()
    expect((await cluster.during(loading)).state.snapshot.context).toMatchObject({ count: 1 })
    expect(owner.host.resident(id)).toBeUndefined()
  })

  it('starts no effect of a commit that was acknowledged after its actors were taken over', async () => {
    const ran: string[] = []
    const work: Run = async () => {
      ran.push('work')
      return { event: { type: 'worked' } }
    }
    const cluster = new ProbeCluster({ work })
    await cluster.startAll(2)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const gate = Promise.withResolvers<void>()
    const append = cluster.storage.commits.append.bind(cluster.storage.commits)
    cluster.storage.commits.append = async (batch) => {
      const written = append(batch)
      cluster.storage.commits.append = append
      await gate.promise
      return written
    }
    const delivering = owner.deliver(id, { type: 'work', policy: 'idempotent' })
    await taken(cluster, owner)
    expect(ran).toEqual(['work'])
    gate.resolve()
    expect(await cluster.during(delivering)).toMatchObject({ duplicate: false })
    await cluster.clock.advance(1000)
    expect(ran).toEqual(['work'])
  })
})

/** Stops the node until its actors are taken over and it has noticed. */
const taken = async (cluster: ProbeCluster, node: TestNode): Promise<void> => {
  await calm()
  node.stall()
  await cluster.clock.advance(6000)
  node.wake()
  await cluster.clock.advance(1500)
}

describe('when the store is away', () => {
  it('every node refuses writes within 2.5 seconds, and keeps its shards and streams', async () => {
    const cluster = new ProbeCluster()
    const nodes = await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    const held = nodes.map(({ host }) => host.ownership.shards?.map((shard) => host.ownership.heldUnder(shard)))
    const reader = read(owner.host.feed.follow(id, 0, { at: 'never' }))
    await calm()
    for (const { process } of nodes) process.storeAway = true
    await cluster.clock.advance(1200)
    const outcomes = nodes.map((node) => node.deliver(id, { type: 'count' }).catch((error: unknown) => error))
    await cluster.clock.advance(1300)
    for (const outcome of outcomes) expect(await outcome).toBeInstanceOf(StoreUnavailable)
    await cluster.clock.advance(30_000)
    expect(reader.ended).toBeUndefined()
    // the node that notices first takes nothing from the others
    for (const { process } of nodes) {
      process.storeAway = false
      await cluster.clock.advance(400)
    }
    await cluster.clock.advance(3000)
    expect(nodes.map(({ host }) => host.ownership.shards?.map((shard) => host.ownership.heldUnder(shard)))).toEqual(
      held,
    )
    for (const node of nodes) await cluster.during(node.deliver(id, { type: 'count' }))
    await cluster.clock.advance(10_000)
    expect(reader.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    expect([...claims(nodes)].sort((a, b) => a - b)).toEqual(
      Array.from({ length: shardsOf({}).count }, (_, shard) => shard),
    )
  })

  it('from one node only, the other nodes take over its shards', async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const owner = cluster.ownerOf(id)
    await owner.create(id)
    owner.process.storeAway = true
    await cluster.clock.advance(6500)
    const next = cluster.otherThan(owner)
    await cluster.during(next.deliver(id, { type: 'count' }))
    expect(owner.host.ownership.epochOf(shardsOf({}).of(id))).toBeUndefined()
    owner.process.storeAway = false
    await cluster.clock.advance(1500)
    await cluster.during(owner.deliver(id, { type: 'count' }))
    expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted', 'counted'])
  })
})

describe('when the directory is away', () => {
  it('requests are served, and no node loses a lease when it comes back empty', async () => {
    const cluster = new ProbeCluster()
    const nodes = await cluster.startAll(3)
    const held = nodes.map(({ host }) => host.ownership.shards)
    const epochs = nodes.map(({ host }) => host.ownership.shards?.map((shard) => host.ownership.heldUnder(shard)))
    cluster.presence.up = false
    cluster.exchange.up = false
    await cluster.clock.advance(5000)
    await nodes[0]?.create(id)
    for (const node of nodes) await node.deliver(id, { type: 'count' })
    cluster.presence.up = true
    cluster.exchange.up = true
    await cluster.clock.advance(5000)
    expect(nodes.map(({ host }) => host.ownership.shards)).toEqual(held)
    expect(nodes.map(({ host }) => host.ownership.shards?.map((shard) => host.ownership.heldUnder(shard)))).toEqual(
      epochs,
    )
  })
})

it('an effect whose result came while the lease was in doubt is completed without another request', async () => {
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const work: Run = async () => {
    if (runs++ === 0) await gate.promise
    return { event: { type: 'worked', output: 'done' } }
  }
  const cluster = new ProbeCluster({ work })
  const nodes = await cluster.startAll(2)
  const owner = cluster.ownerOf(id)
  await owner.create(id)
  await owner.deliver(id, { type: 'work', policy: 'idempotent' })
  await calm()
  const { epoch } = owner.host.ownership
  for (const { process } of nodes) process.storeAway = true
  await cluster.clock.advance(2500)
  gate.resolve()
  await cluster.clock.advance(1300)
  for (const { process } of nodes) process.storeAway = false
  await cluster.clock.advance(20_000)
  expect(cluster.ownerOf(id).host.ownership.epoch).toBe(epoch)
  expect(typesOf(await logOf(cluster.storage, id))).toEqual(['worked'])
})
