import { describe, expect, it } from 'vitest'
import type { MachineDefinition } from '#machines/definition.ts'
import { ableOwners } from '#runtime/cluster/able-owners.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Member } from '#storage/cluster-ports.ts'
import { logOf, typesOf } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'
import { ProbeCluster, type TestNode } from './probe-cluster.ts'

/** The next release, whose actors processes of this one can read. */
const next: MachineDefinition = {
  ...probeDefinition,
  version: probeDefinition.version + 1,
  readableBy: probeDefinition.version,
  migrations: { ...probeDefinition.migrations, [probeDefinition.version]: (state) => state },
}
/** One whose actors only itself can read. */
const { readableBy: _, ...foreign } = next
const ids = Array.from({ length: 16 }, (_, i) => `prb_${i}`)
const heldBy = ({ host }: TestNode): number => host.ownership.shards?.length ?? 0
const older = `probe@${probeDefinition.version}`
const newer = `probe@${next.version}`

const versionsIn = async ({ storage }: ProbeCluster): Promise<ReadonlySet<string | undefined>> =>
  new Set(await Promise.all(ids.map(async (id) => (await storage.commits.head(id))?.machine)))

const count = async (cluster: ProbeCluster, node: TestNode): Promise<void> => {
  for (const id of ids) await cluster.during(node.deliver(id, { type: 'count' }))
}

const counted = async ({ storage }: ProbeCluster): Promise<ReadonlySet<number>> =>
  new Set(await Promise.all(ids.map(async (id) => (await logOf(storage, id)).length)))

/** A cluster of one release. */
const installed = async (size: number) => {
  const cluster = new ProbeCluster()
  for (let n = 0; n < size; n++) await cluster.start(`old${n}`)
  await cluster.clock.advance(20_000)
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('no node')
  for (const id of ids) await cluster.during(first.create(id))
  return cluster
}

const join = async (cluster: ProbeCluster, name: string, definition: MachineDefinition): Promise<TestNode> => {
  const node = await cluster.start(name, definition)
  await cluster.clock.advance(20_000)
  return node
}

const leave = async (cluster: ProbeCluster, node: TestNode | undefined): Promise<void> => {
  await cluster.during(node?.runtime.drain(1000) ?? Promise.resolve(), 30_000)
  node?.kill()
  await cluster.clock.advance(20_000)
}

const running = (cluster: ProbeCluster): readonly TestNode[] =>
  cluster.nodes.filter(({ process }) => process.state === 'up')

/** The largest number of shards of a node, as a multiple of an equal share. */
const fullest = (cluster: ProbeCluster): number => {
  const nodes = running(cluster)
  return Math.max(...nodes.map(heldBy)) / (shardsOf({}).count / nodes.length)
}

describe('a rolling deploy of a newer machine', { timeout: 180_000 }, () => {
  it('hands shards over from the second new node on, and loads no node with more than 1.5 shares', async () => {
    const cluster = await installed(5)
    const old = [...cluster.nodes]
    const shares: number[] = []
    for (const [at, node] of old.entries()) {
      await leave(cluster, node)
      shares.push(fullest(cluster))
      const later = await join(cluster, `new${at}`, next)
      shares.push(fullest(cluster))
      expect(heldBy(later) > 0, `node ${at}`).toBe(at > 0)
      // every node serves requests for the actors of every other, of either release
      await count(cluster, later)
      await count(cluster, running(cluster)[0] ?? later)
    }
    console.info(`shares of the fullest of 5 nodes: ${shares.map((each) => each.toFixed(2)).join(' ')}`)
    expect(Math.max(...shares)).toBeLessThanOrEqual(1.5)
    expect(await versionsIn(cluster)).toEqual(new Set([newer]))
    expect(await counted(cluster)).toEqual(new Set([10]))
  })

  it('migrates nothing while there is one new node among several, which can be withdrawn', async () => {
    const cluster = await installed(3)
    const first = await join(cluster, 'new', next)
    expect(heldBy(first)).toBe(0)
    await count(cluster, first)
    first.kill()
    await cluster.clock.advance(20_000)
    for (const node of running(cluster)) await count(cluster, node)
    expect(await versionsIn(cluster)).toEqual(new Set([older]))
  })

  it('waits for the last older process if older ones cannot read what it writes', async () => {
    const cluster = await installed(2)
    const [one, two] = cluster.nodes
    const later = [await join(cluster, 'new0', foreign), await join(cluster, 'new1', foreign)]
    await leave(cluster, one)
    expect(later.map(heldBy)).toEqual([0, 0])
    expect(await versionsIn(cluster)).toEqual(new Set([older]))
    const haveAll = () => later.map(({ runtime }) => runtime.processes.haveAll('probe', next.version))
    expect(haveAll()).toEqual([false, false])
    await leave(cluster, two)
    expect(haveAll()).toEqual([true, true])
    expect(later.map(heldBy)).toEqual([shardsOf({}).count / 2, shardsOf({}).count / 2])
    for (const node of later) await count(cluster, node)
    expect(await versionsIn(cluster)).toEqual(new Set([newer]))
  })

  it('moves all shards to the new release when the older processes die', async () => {
    const cluster = await installed(2)
    const later = await join(cluster, 'new', foreign)
    for (const node of cluster.nodes) if (node !== later) node.kill()
    await cluster.clock.advance(20_000)
    expect(heldBy(later)).toBe(shardsOf({}).count)
    await count(cluster, later)
  })

  it('gives no shard to a process of the older release that joins late', async () => {
    const cluster = await installed(1)
    const later = [await join(cluster, 'new0', foreign), await join(cluster, 'new1', foreign)]
    await leave(cluster, cluster.nodes[0])
    const late = await join(cluster, 'late', probeDefinition)
    expect([...later, late].map(heldBy)).toEqual([shardsOf({}).count / 2, shardsOf({}).count / 2, 0])
  })

  it('leaves the shards of dead new nodes to older ones, which refuse only the actors that were migrated', async () => {
    const cluster = await installed(2)
    const later = [await join(cluster, 'new0', next), await join(cluster, 'new1', next)]
    expect(later.map(heldBy)).toEqual([shardsOf({}).count / 4, shardsOf({}).count / 4])
    const [migrated = '', kept = ''] = ids.filter((id) => later.some((node) => cluster.ownerOf(id) === node))
    const [old] = cluster.nodes
    if (old === undefined) throw new Error('no node')
    await cluster.during(old.deliver(migrated, { type: 'count' }))
    for (const node of later) node.kill()
    await cluster.clock.advance(20_000)
    expect(running(cluster).map(heldBy)).toEqual([shardsOf({}).count / 2, shardsOf({}).count / 2])
    await cluster.during(old.deliver(kept, { type: 'count' }))
    await expect(cluster.during(old.deliver(migrated, { type: 'count' }))).rejects.toThrow(/parked/)
    // nothing is lost: a process of the new release goes on with it
    const again = await join(cluster, 'again', next)
    await cluster.during(again.deliver(migrated, { type: 'count' }))
    expect(typesOf(await logOf(cluster.storage, migrated))).toEqual(['counted', 'counted'])
  })
})

const member = (process: string, version?: number, reads?: number): Member => ({
  ...{ process, node: process, address: `${process}:1`, draining: false, startedAt: 1 },
  ...(version !== undefined && { machines: { probe: version }, readableBy: { probe: reads ?? version } }),
})
const draining = (each: Member): Member => ({ ...each, draining: true })
const [a, b] = [member('a', 1), member('b', 1)]
const [c, d] = [member('c', 2, 1), member('d', 2, 1)]

describe('shards', () => {
  it.each([
    ['of any level by all of one version', [a, b], 0, ['a', 'b']],
    ['by the older while there is one newer process', [a, b, c], 1, ['a', 'b']],
    ['by both from two newer ones on', [a, b, c, d], 1, ['a', 'b', 'c', 'd']],
    ['by both if as many are newer', [a, c], 1, ['a', 'c']],
    ['by the older if they cannot read the newer', [a, b, member('c', 2), member('d', 2)], 1, ['a', 'b']],
    ['by the newer alone once one of them held it', [a, b, c], 2, ['c']],
    ['by the newer when the older drain', [draining(a), draining(b), c], 1, ['c']],
    ['by the older if no newer is left', [a, b], 2, ['a', 'b']],
    ['by the next of three releases only', [a, c, d, member('e', 3), member('f', 3)], 1, ['a']],
    ['by those that announce no versions first', [member('e'), c, d], 0, ['e']],
  ] as const)('may be owned %s', (_, members, level, able) => {
    expect(ableOwners(members)(level)).toEqual(able)
  })
})
