import { describe, expect, it } from 'vitest'
import { ClusterNodes } from '#actors/operators/cluster-nodes.ts'
import { nodeUseCases } from '#actors/operators/node-use-cases.ts'
import { newIdIn } from '#runtime/ids.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Member } from '#storage/cluster-ports.ts'
import { MemoryLeases } from '#test/support/memory/leases.ts'
import { MemoryPresence } from '#test/support/memory/presence.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callOf } from '../sessions/harness.ts'

const memberOf = (node: string, change: Partial<Member> = {}): Member => ({
  ...{ process: `${node}.7`, node, address: `127.0.0.1:${node.length}` },
  ...{ draining: false, startedAt: Date.UTC(2026, 0, 1) },
  ...change,
})

const claims = (...shards: number[]) => shards.map((shard) => ({ shard, epoch: 0, leftMs: 0 }))

const open = async () => {
  const clock = new VirtualClock()
  const leases = new MemoryLeases(clock.now)
  const presence = new MemoryPresence(clock.now)
  const [a, b] = [memberOf('node-a'), memberOf('node-b')]
  for (const [member, shards] of [
    [a, [1, 2, 3]],
    [b, [4]],
  ] as const) {
    await leases.renew(member, 4_000)
    await leases.acquire(member, claims(...shards), { floor: 0, ms: 4_000 })
    await presence.announce(member, { shards: 9, liveActors: 20, runningEffects: 3 }, 1_500)
  }
  const nodes = new ClusterNodes({
    space: shardsOf({}),
    facts: () => ({ liveActors: 11, runningEffects: 2 }),
    self: () => a,
    leases,
    presence,
    clock,
  })
  const list = async () => (await nodeUseCases(nodes)['nodes.list'](callOf({}, {}, undefined))).data
  return { clock, leases, presence, a, b, nodes, list }
}

describe('the nodes of a cluster', () => {
  it('are listed by name with what they hold and run; the current one reports its own facts', async () => {
    const { list } = await open()
    const started_at = '2026-01-01T00:00:00.000Z'
    const shared = { alive: true, draining: false, started_at, address: '127.0.0.1:6', redis: null }
    const mine = { id: 'node-a.7', name: 'node-a', current: true, shards: 3, live_actors: 11, running_effects: 2 }
    const other = { id: 'node-b.7', name: 'node-b', current: false, shards: 1, live_actors: 20, running_effects: 3 }
    expect(await list()).toEqual([
      { ...mine, ...shared },
      { ...other, ...shared },
    ])
  })

  it('hold shards under leases, and all 256 shards are listed', async () => {
    const { clock, nodes } = await open()
    const shown = async () => (await nodeUseCases(nodes)['shards.list'](callOf({}, {}, undefined))).data
    const before = await shown()
    expect(before).toHaveLength(256)
    expect(before.slice(0, 5).map(({ shard, node, epoch }) => [shard, node, epoch])).toEqual([
      [0, null, 0],
      [1, 'node-a.7', 1],
      [2, 'node-a.7', 1],
      [3, 'node-a.7', 1],
      [4, 'node-b.7', 1],
    ])
    expect(before[4]?.expires_in_ms).toBe(4_000)
    await clock.advance(5_000)
    expect((await shown())[4]).toEqual({ shard: 4, node: null, epoch: 1, expires_in_ms: null })
  })

  it('are shown as not alive once they announce nothing, and disappear with their lease', async () => {
    const { clock, leases, presence, a, list } = await open()
    await clock.advance(2_000)
    await leases.renew(a, 4_000)
    await presence.announce(a, { shards: 3, liveActors: 11, runningEffects: 2 }, 1_500)
    expect((await list()).map(({ name, alive, live_actors }) => [name, alive, live_actors])).toEqual([
      ['node-a', true, 11],
      ['node-b', false, null],
    ])
    await clock.advance(2_500)
    expect((await list()).map(({ name }) => name)).toEqual(['node-a'])
  })

  it('are shown without the facts of the directory while that is unavailable', async () => {
    const { presence, list } = await open()
    presence.up = false
    expect(await list()).toMatchObject([
      { name: 'node-a', alive: true, shards: 3, live_actors: 11 },
      { name: 'node-b', alive: null, shards: 1, live_actors: null, running_effects: null },
    ])
  })

  it('include the one that runs an actor, and none for a shard without a holder', async () => {
    const { clock, nodes } = await open()
    expect(await nodes.runnerOf(newIdIn('ses', 4))).toBe('node-b')
    expect(await nodes.runnerOf(newIdIn('ses', 3))).toBe('node-a')
    expect(await nodes.runnerOf(newIdIn('ses', 5))).toBeNull()
    await clock.advance(10_000)
    expect(await nodes.runnerOf(newIdIn('ses', 3))).toBeNull()
  })

  it('read the store at most once a second, however often they are read', async () => {
    const { clock, leases, presence, a } = await open()
    let reads = 0
    const counted = {
      read: () => {
        reads += 1
        return leases.read()
      },
    }
    const facts = () => ({ liveActors: 0, runningEffects: 0 })
    const nodes = new ClusterNodes({ space: shardsOf({}), facts, self: () => a, leases: counted, presence, clock })
    for (let n = 0; n < 50; n++) await nodes.runnerOf('ses_1')
    expect(reads).toBe(1)
    await clock.advance(1_000)
    await nodes.list()
    expect(reads).toBe(2)
  })

  it('list the live actors of the given project', async () => {
    const { presence, b, nodes } = await open()
    const live = { machine: 'session', node: b.node, process: b.process }
    await presence.moved(
      [
        { ...live, actor: 'ses_1', project: 'prj_a' },
        { ...live, actor: 'ses_2', project: 'prj_b' },
      ],
      [],
    )
    const listed = await nodeUseCases(nodes)['live_actors.list'](
      callOf({ project_id: 'prj_a' }, { limit: 100 }, undefined),
    )
    expect(listed).toEqual({ data: [{ id: 'ses_1', machine: 'session', node: 'node-b' }] })
  })
})
