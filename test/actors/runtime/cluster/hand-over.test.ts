import { describe, expect, it } from 'vitest'
import type { EventStream } from '#runtime/messages/event-stream.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { forever, logOf, type Reader, type Run, read, typesOf } from '../probe.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

const ids = Array.from({ length: 40 }, (_, i) => `prb_${i}`)
/** Enough that more than half of the shards have one. */
const manyIds = Array.from({ length: 240 }, (_, i) => `prb_${i}`)
const everyShard = Array.from({ length: shardsOf({}).count }, (_, shard) => shard)

/** Work that ends when the test opens its gate. */
const gated = () => {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const work: Run = async (_params, { actor, signal }) => {
    const gate = gates.get(actor) ?? Promise.withResolvers<void>()
    gates.set(actor, gate)
    await gate.promise
    return { event: { type: 'worked', output: signal.aborted ? 'aborted' : 'done' } }
  }
  return { work, begun: () => [...gates.keys()], finish: (id: string) => gates.get(id)?.resolve() }
}

const heldBy = ({ host }: TestNode): readonly number[] => host.ownership.shards ?? []

describe('a node that joins', { timeout: 180_000 }, () => {
  it('gets its share of the shards within seconds, and no request fails meanwhile', async () => {
    const cluster = new ProbeCluster()
    const [first] = await cluster.startAll(1)
    for (const id of ids) await first?.create(id)
    const second = await cluster.start()
    const outcomes: unknown[] = []
    for (let round = 0; round < 40; round++) {
      for (const id of ids.slice(round % 8, (round % 8) + 4)) {
        const node = round % 2 ? first : second
        void node?.deliver(id, { type: 'count' }).then(
          () => outcomes.push('done'),
          (error: unknown) => outcomes.push(error),
        )
      }
      await cluster.clock.advance(250)
    }
    await cluster.clock.advance(5000)
    expect(outcomes).toEqual(Array.from({ length: 160 }, () => 'done'))
    expect(cluster.nodes.flatMap(heldBy).sort((a, b) => a - b)).toEqual(everyShard)
    expect(heldBy(second).length).toBeGreaterThan(90)
  })

  it('interrupts nothing: a shard with a running effect moves only after the effect has ended', async () => {
    const gate = gated()
    const cluster = new ProbeCluster({ work: gate.work })
    const [first] = await cluster.startAll(1)
    for (const id of manyIds) {
      await first?.create(id)
      await first?.deliver(id, { type: 'work', policy: 'at_most_once' })
    }
    const second = await cluster.start()
    await cluster.clock.advance(60_000)
    for (const id of manyIds) expect(cluster.ownerOf(id)).toBe(first)
    expect(heldBy(second).length).toBeGreaterThan(50)
    // its actors are served meanwhile
    for (const id of ids) await cluster.during(second.deliver(id, { type: 'count' }))
    for (const id of manyIds) gate.finish(id)
    await cluster.clock.advance(90_000)
    for (const id of ids) expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted', 'worked'])
    expect(manyIds.some((id) => cluster.ownerOf(id) === second)).toBe(true)
    expect(heldBy(second)).toHaveLength(shardsOf({}).count / 2)
  })

  it('lets a shard that stays after all start the effects that it held back', async () => {
    const gate = gated()
    const cluster = new ProbeCluster({ work: gate.work })
    const [first] = await cluster.startAll(1)
    if (first === undefined) throw new Error('no node')
    for (const id of manyIds) {
      await first.create(id)
      await first.deliver(id, { type: 'work', policy: 'idempotent' })
    }
    await cluster.start()
    const leaving = (): string | undefined => manyIds.find((id) => !first.host.ownership.opens(shardsOf({}).of(id)))
    for (let waited = 0; waited < 60 && leaving() === undefined; waited++) await cluster.clock.advance(250)
    const id = leaving() ?? ''
    // it has an effect in flight, so it accepts this event, and requests another effect
    await first.deliver(id, { type: 'work', policy: 'idempotent' })
    expect(first.host.effects.running).toBe(manyIds.length)
    await cluster.clock.advance(4500)
    expect(first.host.effects.running).toBe(manyIds.length + 1)
    expect(first.host.ownership.opens(shardsOf({}).of(id))).toBe(true)
  })
})

describe('a node that drains', { timeout: 180_000 }, () => {
  it('hands over idle shards at once, and busy shards when their effects have ended', async () => {
    const gate = gated()
    const cluster = new ProbeCluster({ work: gate.work })
    await cluster.startAll(3)
    const node = cluster.ownerOf('prb_0')
    const mine = ids.filter((id) => cluster.ownerOf(id) === node)
    for (const id of mine) await node.create(id)
    await node.deliver('prb_0', { type: 'work', policy: 'at_most_once' })
    await calm()
    const reader = read(node.host.feed.follow('prb_0', 0, { at: 'never' }))
    const drained = node.runtime.drain(20_000)
    await cluster.clock.advance(1500)
    expect(heldBy(node)).toEqual([shardsOf({}).of('prb_0')])
    for (const id of mine) {
      if (shardsOf({}).of(id) !== shardsOf({}).of('prb_0'))
        await cluster.during(cluster.otherThan(node).deliver(id, { type: 'count' }))
    }
    gate.finish('prb_0')
    await cluster.clock.advance(500)
    expect(heldBy(node)).toEqual([])
    const delivered = await cluster.during(cluster.otherThan(node).deliver('prb_0', { type: 'count' }))
    expect(delivered.duplicate).toBe(false)
    await cluster.clock.advance(500)
    expect(reader.events.map(({ event_type }) => event_type)).toEqual(['worked', 'counted'])
    await cluster.clock.advance(20_000)
    await drained
    expect(reader.ended).toBe('lost')
  })

  it('leaves the effects of its last step to the next owner', async () => {
    const begun: string[] = []
    const cluster = new ProbeCluster({
      work: async ({ next }, context) => {
        begun.push(`${next ?? 'last'}`)
        if (next === 'first') await new Promise<void>((resolve) => cluster.clock.after(1500, resolve))
        return next === 'first'
          ? { event: { type: 'work', policy: 'idempotent', by: context.actor } }
          : { event: { type: 'worked', output: 'elsewhere' } }
      },
    })
    await cluster.startAll(2)
    const node = cluster.ownerOf('prb_1')
    await node.create('prb_1')
    await node.deliver('prb_1', { type: 'work', policy: 'idempotent', next: 'first' })
    await calm()
    const drained = node.runtime.drain(20_000)
    await cluster.clock.advance(4000)
    await drained
    expect(begun).toEqual(['first', 'last'])
    expect(typesOf(await logOf(cluster.storage, 'prb_1'))).toEqual(['worked'])
  })

  it('leaves an effect that does not end in time to another node', async () => {
    let runs = 0
    const cluster = new ProbeCluster({
      work: (params, context) =>
        runs++ === 0 ? forever(params, context) : Promise.resolve({ event: { type: 'worked' } }),
    })
    await cluster.startAll(2)
    const node = cluster.ownerOf('prb_1')
    await node.create('prb_1')
    await node.deliver('prb_1', { type: 'work', policy: 'idempotent' })
    await calm()
    const drained = node.runtime.drain(5000)
    await cluster.clock.advance(4900)
    expect(runs).toBe(1)
    await cluster.clock.advance(2000)
    await drained
    expect(runs).toBe(2)
    expect(cluster.ownerOf('prb_1')).not.toBe(node)
  })

  it('accepts requests until its end, and the next owner starts their effects', async () => {
    const begun: string[] = []
    const gate = gated()
    const work: Run = (params, context) => {
      begun.push(context.actor)
      return gate.work(params, context)
    }
    const cluster = new ProbeCluster({ work })
    await cluster.startAll(2)
    const [one, two] = ['prb_1', `prb_fresh_${shardSuffix('prb_1')}`]
    const node = cluster.ownerOf(one)
    const other = cluster.otherThan(node)
    await node.create(one)
    await node.deliver(one, { type: 'work', policy: 'idempotent' })
    await calm()
    const drained = node.runtime.drain(20_000)
    await cluster.clock.advance(300)
    await cluster.during(other.deliver(one, { type: 'count' }), 1000)
    await cluster.during(other.create(two), 1000)
    await cluster.during(other.deliver(two, { type: 'work', policy: 'idempotent' }), 1000)
    await cluster.clock.advance(3000)
    expect(begun).toEqual([one])
    gate.finish(one)
    await cluster.clock.advance(1000)
    expect(begun).toEqual([one, two])
    expect(cluster.ownerOf(two)).toBe(other)
    await cluster.clock.advance(20_000)
    await drained
  })
})

/** The suffix with which `prb_fresh_<suffix>` is in the same shard. */
const shardSuffix = (id: string): string => {
  for (let n = 0; ; n++) if (shardsOf({}).of(`prb_fresh_${n}`) === shardsOf({}).of(id)) return `${n}`
}

describe('a rolling restart', () => {
  it('loses nothing, fails no request, and resumes a stream on another node without a gap', {
    timeout: 180_000,
  }, async () => {
    const cluster = new ProbeCluster()
    await cluster.startAll(3)
    const shown = new Map<string, number>()
    const failures: unknown[] = []
    for (const id of ids) await cluster.nodes[0]?.create(id)
    const leaving = new Set<string>()
    const up = () => cluster.nodes.filter(({ process, name }) => process.state === 'up' && !leaving.has(name))
    let n = 0
    const load = (): void => {
      for (const id of ['prb_0', ...ids.slice(n % 10, (n % 10) + 4)]) {
        const node = up()[n % up().length]
        void node?.deliver(id, { type: 'count', n: n++ }).then(
          () => shown.set(id, (shown.get(id) ?? 0) + 1),
          (error: unknown) => failures.push(error),
        )
      }
    }
    const seen: number[] = []
    let reader: Reader | undefined
    const resume = (): void => {
      if (reader !== undefined && reader.ended === undefined) return
      seen.push(...(reader?.events ?? []).map(({ sequence }) => sequence))
      reader = read(up()[0]?.host.feed.follow('prb_0', seen.at(-1) ?? 0, { at: 'never' }) ?? noStream)
    }
    const pass = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        resume()
        load()
        await cluster.clock.advance(400)
      }
    }
    for (const old of [...cluster.nodes]) {
      leaving.add(old.name)
      const drained = old.runtime.drain(5000)
      await pass(5)
      await cluster.during(drained)
      old.kill()
      await cluster.start(`${old.name}b`)
      await pass(15)
    }
    await cluster.clock.advance(8000)
    expect(failures).toEqual([])
    for (const id of ids) expect((await logOf(cluster.storage, id)).length).toBe(shown.get(id) ?? 0)
    const sequences = [...seen, ...(reader?.events ?? []).map(({ sequence }) => sequence)]
    expect(sequences).toEqual(Array.from({ length: shown.get('prb_0') ?? 0 }, (_, i) => i + 1))
    expect(reader?.ended).toBeUndefined()
    expect(
      cluster.nodes
        .filter(({ process }) => process.state === 'up')
        .flatMap(heldBy)
        .sort((a, b) => a - b),
    ).toEqual(everyShard)
  })
})

const noStream: EventStream = { start: () => ({ resume: () => {}, stop: () => {} }) }
