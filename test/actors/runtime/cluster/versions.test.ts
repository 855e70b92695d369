import { describe, expect, it } from 'vitest'
import type { MachineDefinition } from '#machines/definition.ts'
import { mayOwn } from '#runtime/cluster/placement.ts'
import { shardCount } from '#runtime/recovery/shard.ts'
import type { Lease, Member } from '#storage/cluster-ports.ts'
import { logOf, typesOf } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

const next: MachineDefinition = {
  ...probeDefinition,
  version: probeDefinition.version + 1,
  migrations: { ...probeDefinition.migrations, [probeDefinition.version]: (state) => state },
}
const ids = Array.from({ length: 12 }, (_, i) => `prb_${i}`)
const heldBy = ({ host }: TestNode): number => host.ownership.shards?.length ?? 0

const versionsIn = async ({ storage }: ProbeCluster): Promise<ReadonlySet<string | undefined>> =>
  new Set(await Promise.all(ids.map(async (id) => (await storage.commits.head(id))?.machine)))

/** A cluster of one release that a node of the next release has joined. */
const rolling = async () => {
  const cluster = new ProbeCluster()
  const old = [await cluster.start('a'), await cluster.start('b')] as const
  await cluster.clock.advance(20_000)
  for (const id of ids) await cluster.during(old[0].create(id))
  const later = await cluster.start('c', next)
  await cluster.clock.advance(20_000)
  return { cluster, old, later }
}

const leave = async ({ cluster, node }: { cluster: ProbeCluster; node: TestNode }): Promise<void> => {
  await cluster.during(node.runtime.drain(1000), 30_000)
  node.kill()
  await cluster.clock.advance(20_000)
}

describe('a rolling deploy of a newer machine', { timeout: 180_000 }, () => {
  it('migrates no actor while a process of the older release runs, and serves them through the new node', async () => {
    const { cluster, old, later } = await rolling()
    expect(heldBy(later)).toBe(0)
    for (const id of ids) await cluster.during(later.deliver(id, { type: 'count' }))
    await leave({ cluster, node: old[0] })
    for (const id of ids) await cluster.during(later.deliver(id, { type: 'count' }))
    expect(await versionsIn(cluster)).toEqual(new Set([`probe@${probeDefinition.version}`]))
    expect(heldBy(old[1])).toBe(shardCount)
  })

  it('migrates the actors once the last older process drains, and parks none', async () => {
    const { cluster, old, later } = await rolling()
    for (const node of old) await leave({ cluster, node })
    expect(heldBy(later)).toBe(shardCount)
    for (const id of ids) await cluster.during(later.deliver(id, { type: 'count' }))
    expect(await versionsIn(cluster)).toEqual(new Set([`probe@${next.version}`]))
    for (const id of ids) expect(typesOf(await logOf(cluster.storage, id))).toEqual(['counted'])
  })

  it('moves all shards to the new release when the older processes die', async () => {
    const { cluster, old, later } = await rolling()
    for (const node of old) node.kill()
    await cluster.clock.advance(20_000)
    for (const id of ids) await cluster.during(later.deliver(id, { type: 'count' }))
    expect(heldBy(later)).toBe(shardCount)
  })

  it('gives no shard to a process of the older release that joins late', async () => {
    const { cluster, old, later } = await rolling()
    for (const node of old) await leave({ cluster, node })
    const late = await cluster.start('d')
    await cluster.clock.advance(20_000)
    expect([heldBy(later), heldBy(late)]).toEqual([shardCount, 0])
  })
})

const member = (process: string, version?: number, draining = false): Member => ({
  ...{ process, node: process, address: `${process}:1`, draining, startedAt: 1 },
  ...(version !== undefined && { machines: { probe: version } }),
})

const holding = (...holders: readonly string[]): readonly Lease[] =>
  holders.map((holder, shard) => ({ shard, holder, address: `${holder}:1`, epoch: 1, leftMs: 1000 }))

describe('shards', () => {
  it.each([
    ['all of one version', [member('a', 1), member('b', 1)], holding('a'), ['a', 'b']],
    ['all when none owns any', [member('a', 1), member('b', 2)], [], ['a', 'b']],
    ['the older while one of them owns some', [member('a', 1), member('b', 2)], holding('a'), ['a']],
    ['the newer once they own some', [member('a', 1), member('b', 2)], holding('b'), ['b']],
    ['the newer when the older drain', [member('a', 1, true), member('b', 2)], holding('a'), ['b']],
    ['the newer of those that own some', [member('a', 1), member('b', 2), member('c', 2)], holding('a', 'b'), ['b']],
    ['those that announce no version, if an owner announces none', [member('a'), member('b', 1)], holding('a'), ['a']],
  ] as const)('may be owned by %s', (_, members, leases, able) => {
    expect(mayOwn(members, leases)).toEqual(able)
  })
})
