import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LeaseTable, Member } from '#storage/cluster-ports.ts'
import { MongoLeases, prepareLeases } from '#storage/mongo/leases.ts'
import { Random } from '#test/simulation/world/random.ts'

const client = new MongoClient(process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/')
const databases = ['idle', 'same', 'lost'].map((name) => client.db(`leases_${name}_${randomBytes(6).toString('hex')}`))
const [idle, same, lost] = databases
if (idle === undefined || same === undefined || lost === undefined) throw new Error('no databases')

beforeAll(async () => {
  for (const db of databases) await prepareLeases(db)
})
afterAll(async () => {
  for (const db of databases) await db.dropDatabase()
  await client.close()
})

const long = 60_000
const term = { floor: 0, ms: long }

const nodesOf = (db: typeof idle, count: number) =>
  Array.from({ length: count }, (_, n) => {
    const self: Member = { process: `p${n}`, node: `n${n}`, address: `127.0.0.1:${n}`, draining: false, startedAt: n }
    return { self, leases: new MongoLeases(db) }
  })

it('reads one document for each node while no lease changes', async () => {
  const nodes = nodesOf(idle, 3)
  for (const [n, { self, leases }] of nodes.entries()) {
    const claims = Array.from({ length: 100 }, (_, at) => ({ shard: n * 100 + at, epoch: 0, leftMs: 0 }))
    await leases.read()
    await leases.acquire(self, claims, term)
  }
  const round = async () => {
    for (const { self, leases } of nodes) {
      expect((await leases.renew(self, long)).length).toBe(100)
      const table = await leases.read()
      expect([table.leases.length, table.leases.every(({ leftMs }) => leftMs > 0)]).toEqual([300, true])
    }
  }
  for (let settling = 0; settling < 3; settling++) await round()
  await idle.command({ profile: 2 })
  await round()
  await idle.command({ profile: 0 })
  const profiled = await idle
    .collection('system.profile')
    .find({ ns: `${idle.databaseName}.leases`, nreturned: { $exists: true } })
    .toArray()
  expect(profiled.map(({ nreturned }) => nreturned)).toEqual([3, 3, 3])
})

const factsOf = ({ leases, members }: LeaseTable) => ({
  leases: leases.map(({ leftMs, ...lease }) => lease),
  members: members.toSorted((a, b) => a.startedAt - b.startedAt),
})

it('shows what a process that reads everything sees, whatever others have done in between', async () => {
  const random = new Random(7)
  const nodes = nodesOf(same, 4)
  const any = () => random.pick(nodes)
  for (let step = 0; step < 200; step++) {
    const node = any()
    if (node === undefined) throw new Error('no nodes')
    const { self, leases } = node
    const shards = Array.from({ length: 1 + random.between(0, 3) }, () => random.between(0, 29))
    const at = random.between(0, 9)
    if (at < 4) {
      const known = await leases.read()
      const epochOf = (shard: number) => known.leases.find((each) => each.shard === shard)?.epoch ?? 0
      await any()?.leases.release(`p${random.between(0, 3)}`, [random.between(0, 29)])
      const claims = [...new Set(shards)].map((shard) => ({ shard, epoch: epochOf(shard), leftMs: long }))
      await leases.acquire(self, claims, term)
    } else if (at < 8) {
      const renewed = (await leases.renew(self, long)).map(({ shard, epoch }) => ({ shard, epoch }))
      const held = (await new MongoLeases(same).read()).leases.filter(({ holder }) => holder === self.process)
      expect(renewed).toEqual(held.map(({ shard, epoch }) => ({ shard, epoch })))
    } else if (at < 9) await leases.release(self.process, shards)
    else if (random.chance(0.3)) {
      // what joins and leaves between two reads is found by a refused claim only
      for (const each of nodes) await each.leases.read()
      await leases.leave(self.process)
    }
    const all = await new MongoLeases(same).read()
    const seen = await any()?.leases.read()
    if (seen === undefined) throw new Error('no nodes')
    expect(factsOf(seen)).toEqual(factsOf(all))
    for (const [n, { leftMs }] of seen.leases.entries()) expect(leftMs).toBeLessThanOrEqual(all.leases[n]?.leftMs ?? 0)
  }
})

it('finds a lease whose member does not state it, once a claim is refused', async () => {
  const [first, second] = nodesOf(lost, 2)
  if (first === undefined || second === undefined) throw new Error('no nodes')
  await first.leases.acquire(first.self, [{ shard: 1, epoch: 0, leftMs: 0 }], term)
  for (const { self, leases } of [first, second]) {
    await leases.renew(self, long)
    await leases.renew(self, long)
    await leases.read()
  }
  // a change of which no member says anything
  await lost.collection<{ _id: number }>('leases').updateOne({ _id: 1 }, { $inc: { epoch: 1 } })
  expect((await second.leases.read()).leases).toMatchObject([{ epoch: 1 }])
  expect(await second.leases.acquire(second.self, [{ shard: 1, epoch: 1, leftMs: long }], term)).toEqual([])
  expect((await second.leases.read()).leases).toMatchObject([{ epoch: 2 }])
})
