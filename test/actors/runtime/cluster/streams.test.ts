import { describe, expect, it, vi } from 'vitest'
import { calm } from '#test/support/virtual-clock.ts'
import { type Reader, type Run, read } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const id = 'prb_1'
const never = { at: 'never' } as const
const idle = { at: 'idle' } as const

const sequences = ({ events }: Reader): readonly number[] => events.map(({ sequence }) => sequence)
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, i) => i + 1)
const follow = (node: TestNode | undefined, end: typeof never | typeof idle = never): Reader => {
  if (node === undefined) throw new Error('no such node')
  return read(node.host.feed.follow(id, 0, end))
}

/** Three nodes, the one that runs the actor first. */
const opened = async (effects: { readonly speak?: Run; readonly work?: Run } = {}) => {
  const cluster = new ProbeCluster(effects)
  await cluster.startAll(3)
  const owner = cluster.ownerOf(id)
  await owner.create(id)
  return { cluster, owner, other: cluster.otherThan(owner) }
}

describe('a stream at a node that does not run the actor', () => {
  it('delivers every event at once and in order', async () => {
    const { cluster, owner, other } = await opened()
    await owner.deliver(id, { type: 'count', n: 0 })
    const readers = cluster.nodes.map((node) => follow(node))
    await calm()
    for (let n = 1; n < 20; n++) await (n % 2 ? owner : other).deliver(id, { type: 'count', n })
    await calm()
    for (const reader of readers) expect(sequences(reader)).toEqual(upTo(20))
  })

  it('misses no event that is committed while it starts', async () => {
    const { owner, other } = await opened()
    const delivering = Array.from({ length: 10 }, (_, n) => owner.deliver(id, { type: 'count', n }))
    const reader = follow(other)
    await Promise.all(delivering)
    await calm()
    expect(sequences(reader)).toEqual(upTo(10))
    await owner.deliver(id, { type: 'count', n: 10 })
    await calm()
    expect(sequences(reader)).toEqual(upTo(11))
  })

  it('reads the log without its head, and the long texts in it', async () => {
    const { cluster, owner, other } = await opened()
    await owner.deliver(id, { type: 'count', n: 1 })
    const head = vi.spyOn(cluster.storage.commits, 'head')
    expect(await other.host.readLog(id, 0)).toMatchObject([{ sequence: 1, payload: { n: 1 } }])
    expect(head).not.toHaveBeenCalled()
    const text = 'long '.repeat(20_000)
    await owner.deliver(id, { type: 'say', text })
    expect(await other.host.readLog(id, 1)).toMatchObject([{ sequence: 2, payload: { text } }])
  })

  it('needs no extra request after a delivery that was forwarded', async () => {
    const { cluster, other } = await opened()
    await other.deliver(id, { type: 'wait', ms: 60_000 })
    const before = cluster.requests.filter(({ kind }) => kind === 'follow').length
    const reader = follow(other, idle)
    await cluster.clock.advance(500)
    expect(cluster.requests.filter(({ kind }) => kind === 'follow').length).toBe(before)
    expect(reader.ended).toBeUndefined()
    await cluster.ownerOf(id).deliver(id, { type: 'count' })
    await calm()
    expect(sequences(reader)).toEqual([1])
  })

  it('ends when the actor is idle, and not before', async () => {
    const { cluster, owner, other } = await opened()
    await owner.deliver(id, { type: 'wait', ms: 20_000 })
    const reader = follow(other, idle)
    await cluster.clock.advance(10_000)
    expect(reader.ended).toBeUndefined()
    await cluster.clock.advance(15_000)
    expect(reader).toMatchObject({ ended: 'done', events: [{ event_type: 'woke' }] })
    const late = follow(other, idle)
    await cluster.clock.advance(1000)
    expect(late).toMatchObject({ ended: 'done', events: [{ event_type: 'woke' }] })
  })

  it('continues by reading the log while nothing gets through between nodes', async () => {
    const { cluster, owner, other } = await opened()
    const reader = follow(other)
    await calm()
    cluster.exchange.up = false
    for (let n = 0; n < 3; n++) {
      await owner.deliver(id, { type: 'count', n })
      await cluster.clock.advance(600)
      expect(sequences(reader)).toEqual(upTo(n + 1))
    }
    cluster.exchange.up = true
    await owner.deliver(id, { type: 'count', n: 4 })
    await calm()
    expect(sequences(reader)).toEqual(upTo(4))
  })

  it('reads events that were lost between nodes from the log', async () => {
    const { cluster, owner, other } = await opened()
    await owner.deliver(id, { type: 'wait', ms: 60_000 })
    const reader = follow(other)
    await cluster.clock.advance(500)
    const send = cluster.exchange.send.bind(cluster.exchange)
    cluster.exchange.send = () => {}
    await owner.deliver(id, { type: 'count', n: 1 })
    await cluster.clock.advance(1500)
    expect(sequences(reader)).toEqual([1])
    await owner.deliver(id, { type: 'count', n: 2 })
    await calm()
    cluster.exchange.send = send
    await owner.deliver(id, { type: 'count', n: 3 })
    await calm()
    expect(sequences(reader)).toEqual(upTo(3))
  })

  it('continues after the death of the node that runs the actor', async () => {
    const { cluster, owner } = await opened()
    const readers = cluster.nodes.filter((node) => node !== owner).map((node) => follow(node))
    await owner.deliver(id, { type: 'count', n: 1 })
    await calm()
    owner.kill()
    await cluster.clock.advance(3000)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 2 })
    await cluster.clock.advance(1500)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 3 })
    await cluster.clock.advance(1500)
    for (const reader of readers) {
      expect(reader.ended).toBeUndefined()
      expect(sequences(reader)).toEqual(upTo(3))
    }
  })

  it('delivers large events', async () => {
    const { cluster, owner, other } = await opened()
    const reader = follow(other)
    await calm()
    await owner.deliver(id, { type: 'say', text: 'x'.repeat(300_000) })
    await cluster.clock.advance(500)
    expect(reader.events).toMatchObject([{ payload: { text: 'x'.repeat(300_000) } }])
  })

  it('ends as deleted when the actor is removed', async () => {
    const { cluster, owner, other } = await opened()
    const reader = follow(other)
    await calm()
    await cluster.storage.commits.forget(id)
    owner.host.drop(id)
    await cluster.clock.advance(6000)
    expect(reader.ended).toBe('deleted')
  })
})

describe('a stream at the node that runs the actor', () => {
  it('continues from the new owner when the node is stopped and its actors are taken over', async () => {
    const { cluster, owner } = await opened()
    const reader = follow(owner)
    await owner.deliver(id, { type: 'count', n: 1 })
    owner.stall()
    await cluster.clock.advance(6000)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 2 })
    owner.wake()
    await cluster.clock.advance(2000)
    await cluster.ownerOf(id).deliver(id, { type: 'count', n: 3 })
    await calm()
    expect(reader.ended).toBeUndefined()
    expect(sequences(reader)).toEqual(upTo(3))
  })

  it('continues when the actor moves to its node', async () => {
    const { cluster, owner } = await opened()
    const readers = cluster.nodes.map((node) => follow(node))
    await owner.deliver(id, { type: 'count', n: 1 })
    owner.kill()
    await cluster.clock.advance(3000)
    const next = cluster.ownerOf(id)
    await next.deliver(id, { type: 'wait', ms: 500 })
    await cluster.clock.advance(3000)
    for (const [i, reader] of readers.entries()) {
      if (cluster.nodes[i] === owner) continue
      expect(reader.ended).toBeUndefined()
      expect(reader.events.map(({ event_type }) => event_type)).toEqual(['counted', 'woke'])
    }
  })
})

describe('a stream of text', () => {
  it('is complete at every node', async () => {
    const words = Array.from({ length: 50 }, (_, n) => `${n} `)
    const speak: Run = async (_params, { part }) => {
      for (const delta of words) await part({ type: 'heard', delta }, { type: 'heard' })
      return { event: { type: 'spoken' } }
    }
    const { cluster, owner } = await opened({ speak })
    const readers = cluster.nodes.map((node) => follow(node))
    await calm()
    await owner.deliver(id, { type: 'speak' })
    await cluster.clock.advance(2000)
    for (const { events } of readers) {
      const said = events.map(({ payload }) => payload.delta ?? '').join('')
      expect(said).toBe(words.join(''))
      expect(events.at(-1)?.payload.text).toBe(said)
    }
  })
})
