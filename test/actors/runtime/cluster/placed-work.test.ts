import { describe, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const keys = Array.from({ length: 40 }, (_, n) => `key_${n}`)

/** Nodes that answer work with their names, and work that was done on each. */
const working = async (count: number) => {
  const cluster = new ProbeCluster()
  await cluster.startAll(count)
  const done = new Map<string, string[]>()
  /** What a node does before it answers. */
  const before = { work: async (_node: TestNode, _key: string): Promise<void> => {} }
  const doing = async (node: TestNode, key: string): Promise<string> => {
    await before.work(node, key)
    done.set(node.name, [...(done.get(node.name) ?? []), key])
    return node.name
  }
  const serve = (node: TestNode) =>
    node.host.placed.serve('name', async ({ key }) => ({ name: await doing(node, String(key)) }))
  for (const node of cluster.nodes) serve(node)
  const at = (node: TestNode, key: string): Promise<string> =>
    node.host.placed.run({
      ...{ service: 'name', key, here: () => doing(node, key), input: () => ({ key }) },
      answered: ({ name }) => String(name),
    })
  /** The node that does the work of each key, as seen from a node. */
  const places = async (from: TestNode) => {
    const names: string[] = []
    for (const key of keys) names.push(await cluster.during(at(from, key)))
    return names
  }
  const [first, second] = cluster.nodes
  if (first === undefined || second === undefined) throw new Error('no nodes')
  return { cluster, done, before, serve, at, places, first, second }
}

describe('work that any node can do', () => {
  it('is done on one node for each key, whichever node it reaches, and is spread over all', async () => {
    const { cluster, places, first, done } = await working(3)
    const names = await places(first)
    for (const node of cluster.nodes) expect(await places(node)).toEqual(names)
    for (const node of cluster.nodes) expect(new Set(done.get(node.name)).size).toBeGreaterThan(6)
  })

  it('of other keys stays where it is when a node joins or shuts down', async () => {
    const { cluster, places, serve, first } = await working(3)
    const before = await places(first)
    const joined = await cluster.start()
    serve(joined)
    await cluster.clock.advance(20_000)
    const between = await places(first)
    expect(between.filter((name, at) => name !== before[at] && name !== joined.name)).toEqual([])
    expect(between.filter((name) => name === joined.name).length).toBeGreaterThan(3)
    await cluster.during(joined.runtime.drain(0))
    await cluster.clock.advance(2_000)
    expect(await places(first)).toEqual(before)
  })

  it('is done here when its node has ended, and on another one from then on', async () => {
    const { cluster, places, at, first } = await working(3)
    const owner = cluster.otherThan(first)
    const key = keys[(await places(first)).indexOf(owner.name)] ?? ''
    owner.kill()
    expect(await cluster.during(at(first, key))).toBe(first.name)
    const third = cluster.otherThan(first)
    const after = await Promise.all([first, third].map((node) => cluster.during(at(node, key))))
    expect(new Set(after.filter((name) => name === owner.name)).size).toBe(0)
  })

  it('is done here when its node does not answer in time', async () => {
    const { cluster, places, at, before, first } = await working(2)
    const owner = cluster.otherThan(first)
    const key = keys[(await places(first)).indexOf(owner.name)] ?? ''
    before.work = (node) => (node === owner ? new Promise(() => {}) : Promise.resolve())
    const from = cluster.clock.steady()
    expect(await cluster.during(at(first, key))).toBe(first.name)
    expect(cluster.clock.steady() - from).toBeLessThan(4_000)
  })

  it('is done by nodes that know it while others run an earlier release, which are not sent it each time', async () => {
    const { cluster, serve, places, at } = await working(2)
    const earlier = await cluster.start()
    await cluster.clock.advance(20_000)
    const [first] = cluster.nodes
    if (first === undefined) throw new Error('no node')
    cluster.requests.length = 0
    expect(await places(first)).not.toContain(earlier.name)
    expect(cluster.requests.filter(({ kind }) => kind === 'task').length).toBeLessThan(keys.length)
    serve(earlier)
    await cluster.clock.advance(60_000)
    expect(await places(first)).toContain(earlier.name)
    expect(await cluster.during(at(earlier, 'key_0'))).toBe(await cluster.during(at(first, 'key_0')))
  })

  it('fails with what its node refuses, and is done here when that has no store', async () => {
    const { cluster, places, at, before, first } = await working(2)
    const owner = cluster.otherThan(first)
    const key = keys[(await places(first)).indexOf(owner.name)] ?? ''
    const refused = new Error('refused')
    before.work = async (node) => {
      if (node === owner) throw refused
    }
    await expect(cluster.during(at(first, key))).rejects.toThrow('refused')
    before.work = async (node) => {
      if (node === owner) throw new StoreUnavailable('away')
    }
    expect(await cluster.during(at(first, key))).toBe(first.name)
  })

  it('of one key is spread over more nodes while one has too much of it', async () => {
    const { cluster, places, at, before, done, first } = await working(3)
    const key = keys[(await places(first)).indexOf(first.name)] ?? ''
    done.clear()
    const gate = Promise.withResolvers<void>()
    before.work = () => gate.promise
    const all = Array.from({ length: 20 }, () => at(first, key))
    gate.resolve()
    await cluster.during(Promise.all(all))
    const counts = cluster.nodes.map(({ name }) => done.get(name)?.length ?? 0).toSorted((a, b) => a - b)
    expect(counts).toEqual([4, 8, 8])
    done.clear()
    for (let n = 0; n < 20; n++) await cluster.during(at(first, key))
    expect(done.get(first.name)?.length).toBe(20)
  })

  it('stays where it is but for a key that is slow or fails there, whose work is done here for a while', async () => {
    const { cluster, places, at, before, first } = await working(3)
    const names = await places(first)
    const owner = cluster.otherThan(first)
    const [slow = '', failing = '', ...others] = keys.filter((_, at) => names[at] === owner.name)
    before.work = async (node, key) => {
      if (node !== owner) return
      if (key === slow) await new Promise(() => {})
      if (key === failing) throw new StoreUnavailable('away')
    }
    cluster.requests.length = 0
    for (const key of [slow, failing, slow, failing]) expect(await cluster.during(at(first, key))).toBe(first.name)
    expect(cluster.requests.filter(({ kind }) => kind === 'task').length).toBe(2)
    expect(others.length).toBeGreaterThan(3)
    for (const key of others) expect(await cluster.during(at(first, key))).toBe(owner.name)
    before.work = async () => {}
    await cluster.clock.advance(31_000)
    for (const key of [slow, failing]) expect(await cluster.during(at(first, key))).toBe(owner.name)
  })

  it('is bounded on each node: those that send more do it themselves, of one key sooner than of all', async () => {
    const { cluster, places, at, before, done, first } = await working(2)
    const names = await places(first)
    const owner = cluster.otherThan(first)
    const own = keys.filter((_, at) => names[at] === owner.name)
    const doneAt = async (all: () => Promise<string>[]) => {
      done.clear()
      const gate = Promise.withResolvers<void>()
      before.work = (node) => (node === owner ? gate.promise : Promise.resolve())
      const results = all()
      await cluster.clock.advance(100)
      gate.resolve()
      expect((await cluster.during(Promise.all(results))).length).toBe(results.length)
      return done.get(owner.name)?.length
    }
    expect(await doneAt(() => Array.from({ length: 48 }, () => at(first, own[0] ?? '')))).toBe(16)
    expect(own.length).toBeGreaterThan(10)
    expect(await doneAt(() => Array.from({ length: 8 }, () => own.slice(1).map((key) => at(first, key))).flat())).toBe(
      64,
    )
  })

  it('ends on its node when its requester leaves, and when it is late', async () => {
    const { cluster, places, first } = await working(2)
    const owner = cluster.otherThan(first)
    const key = keys[(await places(first)).indexOf(owner.name)] ?? ''
    const ended: unknown[] = []
    owner.host.placed.serve('long', async (_input, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push(signal.reason)
      return signal.throwIfAborted() ?? {}
    })
    const long = (signal?: AbortSignal) =>
      first.host.placed.run({
        ...{ service: 'long', key, here: async () => first.name, input: () => ({}) },
        ...{ answered: () => owner.name, signal },
      })
    const leaving = new AbortController()
    const left = expect(long(leaving.signal)).rejects.toThrow('it left')
    await cluster.clock.advance(100)
    expect(ended).toEqual([])
    leaving.abort(new Error('it left'))
    await left
    expect(ended).toEqual([new Error('it left')])
    expect(await cluster.during(long())).toBe(first.name)
    expect(ended[1]).toBeInstanceOf(StoreUnavailable)
  })

  it('of every node is done by all that can be reached', async () => {
    const { cluster, first } = await working(3)
    const dropped: string[] = []
    for (const node of cluster.nodes)
      node.host.placed.serve('drop', async ({ key }) => {
        dropped.push(`${node.name} ${String(key)}`)
        return {}
      })
    const gone = cluster.otherThan(first)
    gone.kill()
    await cluster.during(first.host.placed.everywhere('drop', { key: 'a' }))
    const left = cluster.nodes.filter((node) => node !== gone)
    expect(dropped.toSorted()).toEqual(left.map(({ name }) => `${name} a`).toSorted())
  })
})
