import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import { manyShardsVersion, NewerStore, storeVersion } from '#storage/newer-store.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { projectScope, tenantScope, userScope } from '#storage/scope.ts'
import { leaseContract } from './contract/leases.ts'
import { storageContract } from './contract.ts'
import { openPatientMongo } from './mongo-patience.ts'
import { commitOf, recordOf, widgets } from './samples.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `storage_${randomBytes(6).toString('hex')}`

afterAll(async () => {
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

storageContract('mongo', (now) => openPatientMongo({ url, database, now }))

// its own clock is fixed in 1970: leases use the clock of the server
leaseContract('mongo', async () => ({
  storage: await openPatientMongo({ url, database, now: () => 10_000 }),
}))

describe('the MongoDB database', () => {
  it('of a newer release is refused and left unchanged', async () => {
    const own = `${database}_newer`
    const client = new MongoClient(url)
    const db = client.db(own)
    try {
      await (await openPatientMongo({ url, database: own })).close()
      const mark = db.collection<{ _id: string; version: number }>('kinds')
      expect(await mark.findOne({ _id: '$store' })).toEqual({ _id: '$store', version: manyShardsVersion })
      await mark.updateOne({ _id: '$store' }, { $inc: { version: 1 } })
      await db.collection('commits').drop()
      await expect(openPatientMongo({ url, database: own })).rejects.toThrow(NewerStore)
      expect(await db.listCollections({ name: 'commits' }).toArray()).toEqual([])
    } finally {
      await db.dropDatabase()
      await client.close()
    }
  })

  it('has 1,024 shards if it is new, and 256 if an earlier release has used it, which can still open it', async () => {
    const own = `${database}_shards`
    const client = new MongoClient(url)
    const db = client.db(own)
    const kinds = db.collection<{ _id: string; version?: number }>('kinds')
    const opened = async (): Promise<number | undefined> => {
      const store = await openPatientMongo({ url, database: own })
      await store.close()
      return store.shards
    }
    try {
      expect([await opened(), await opened()]).toEqual([1024, 1024])
      await db.dropDatabase()
      await kinds.insertOne({ _id: '$store', version: storeVersion })
      await db.collection<{ _id: number }>('leases').insertOne({ _id: 7 })
      expect([await opened(), await opened()]).toEqual([256, 256])
      expect(await kinds.findOne({ _id: '$store' })).toMatchObject({ version: storeVersion })
    } finally {
      await db.dropDatabase()
      await client.close()
    }
  })

  it('completes started operations when it is closed, and is unavailable afterwards', async () => {
    const store = await openPatientMongo({ url, database })
    await store.records.prepare([widgets])
    const begun = Promise.all([
      store.commits.append([commitOf('ses_closing', 1)]),
      store.records.project([{ kind: widgets, record: recordOf('wid_closing') }]),
      store.commits.settle({ close: [{ actor: 'ses_closing', seq: 1 }], undue: [], retire: [] }),
    ])
    await store.close()
    expect((await begun)[0]).toEqual(['done'])
    expect(await store.commits.append([commitOf('ses_closing', 2)])).toEqual(['unknown'])
    await expect(store.commits.head('ses_closing')).rejects.toThrow(StoreUnavailable)
    await expect(store.commits.events('ses_closing', 0, 1)).rejects.toThrow(StoreUnavailable)
    await expect(store.commits.settle({ close: [{ actor: 'x', seq: 1 }], undue: [], retire: [] })).rejects.toThrow(
      StoreUnavailable,
    )
    await expect(store.records.insert(widgets, recordOf('wid_9'))).rejects.toThrow(StoreUnavailable)
    await expect(store.records.project([{ kind: widgets, record: recordOf('wid_9') }])).rejects.toThrow(
      StoreUnavailable,
    )
    await expect(store.records.list(widgets, projectScope('prj_1'), { limit: 1 })).rejects.toThrow(StoreUnavailable)
    await expect(store.blobs.get('prj_1', 'hash')).rejects.toThrow(StoreUnavailable)
    await expect(store.leases?.read()).rejects.toThrow(StoreUnavailable)
    await expect(store.ping()).rejects.toThrow(StoreUnavailable)
  })

  it('gets the indexes of a dropped collection, of a changed declaration and of another release', async () => {
    const own = `${database}_prepared`
    const store = await openPatientMongo({ url, database: own })
    const client = await new MongoClient(url).connect()
    const db = client.db(own)
    const names = async () => (await db.collection(widgets.name).indexes()).map(({ name }) => name ?? '')
    try {
      await store.records.prepare([widgets])
      const all = await names()
      const [dropped = ''] = all.filter((name) => name !== '_id_')
      await db.collection(widgets.name).drop()
      await store.records.prepare([widgets])
      expect(await names()).toEqual(all)
      // an index dropped by hand is not created again: prepare does not check each index
      await db.collection(widgets.name).dropIndex(dropped)
      await store.records.prepare([widgets])
      expect(await names()).not.toContain(dropped)
      await db.collection<{ _id: string }>('kinds').updateOne({ _id: widgets.name }, { $set: { fields: [] } })
      await store.records.prepare([widgets])
      expect(await names()).toContain(dropped)
      await store.records.prepare([{ ...widgets, outbox: true }])
      expect(await names()).toContain('by_outbox')
    } finally {
      await db.dropDatabase()
      await client.close()
      await store.close()
    }
  })

  it('reads no more documents than the page has, for any conditions and scope', async () => {
    const own = `${database}_lists`
    const store = await openPatientMongo({ url, database: own })
    const client = await new MongoClient(url).connect()
    try {
      await store.records.prepare([widgets])
      // only the oldest records meet both conditions: an index of one condition would read all others first
      const rows = Array.from({ length: 600 }, (_, i) => {
        const owner = i % 2 === 0 ? { tenant: 'ten_1', user: 'u' } : {}
        return recordOf(`wid_${String(i).padStart(4, '0')}`, {
          ...owner,
          data: { status: i < 30 ? 'old' : 'new', weight: i % 3 },
        })
      })
      await store.records.project(rows.map((record) => ({ kind: widgets, record })))
      await client.db(own).setProfilingLevel('all')
      for (const scope of [projectScope('prj_1'), tenantScope('prj_1', 'ten_1'), userScope('prj_1', 'ten_1', 'u')]) {
        expect(await store.records.list(widgets, scope, { where: { status: 'old' }, limit: 5 })).toHaveLength(5)
      }
      const both = { status: 'old', weight: 1 }
      expect(await store.records.list(widgets, projectScope('prj_1'), { where: both, limit: 5 })).toHaveLength(5)
      await client.db(own).setProfilingLevel('off')
      const reads = await client.db(own).collection('system.profile').find({ 'command.find': 'widgets' }).toArray()
      expect(reads.map(({ docsExamined }) => docsExamined)).toEqual([5, 5, 5, 5])
    } finally {
      await store.close()
      await client.db(own).dropDatabase()
      await client.close()
    }
  })

  it('is rejected as unavailable if no server responds within the patience', async () => {
    const begin = performance.now()
    const refused = openMongoStorage({ url: 'mongodb://127.0.0.1:1/', database, patienceMs: 500 })
    await expect(refused).rejects.toThrow(StoreUnavailable)
    // the driver alone would try for half a minute
    expect(performance.now() - begin).toBeLessThan(20_000)
  })

  it('removes members that crashed long ago when another one starts, but no lease', async () => {
    const client = new MongoClient(url)
    const owners = client.db(database).collection<Document & { _id: string | number }>('leases')
    const until = new Date(Date.now() - 7_200_000)
    await owners.insertMany([
      { _id: 'member:long-dead', member: { process: 'long-dead' }, until },
      { _id: 'member:just-dead', member: { process: 'just-dead' }, until: new Date() },
      { _id: 200, holder: 'long-dead', address: '127.0.0.1:1', epoch: 7, until },
    ])
    const store = await openPatientMongo({ url, database })
    const self = { process: 'starting', node: 'a', address: '127.0.0.1:2', draining: false, startedAt: 1 }
    await store.leases?.renew(self, 4_000)
    const left = await owners.find({ _id: { $in: ['member:long-dead', 'member:just-dead', 200] } }).toArray()
    expect(left.map(({ _id }) => _id).sort()).toEqual([200, 'member:just-dead'])
    await Promise.all([store.close(), client.close()])
  })

  it('reads events, open and due commits in index order', async () => {
    const client = new MongoClient(url)
    const commits = client.db(database).collection<Document & { _id: string }>('commits')
    const queries = [
      { filter: { actor: 'a', last_sequence: { $gt: 5 }, events: { $exists: true } }, sort: { last_sequence: 1 } },
      { filter: { open: true, shard: { $in: [1, 2] } }, sort: { at: 1, seq: 1 } },
      { filter: { due: { $lte: 5 }, shard: { $in: [1, 2] } }, sort: { due: 1 } },
      { filter: { actor: 'a', cause: 'c' }, sort: {} },
      { filter: { project: 'p', _id: { $gt: 'a:0000000001' } }, sort: { _id: 1 } },
      { filter: { actor: 'a', _id: { $gte: 'a:', $lt: 'a;' } }, sort: { _id: -1 } },
    ] as const
    for (const { filter, sort } of queries) {
      const plan = await commits.find(filter).sort(sort).limit(10).explain('queryPlanner')
      const stages = JSON.stringify(plan.queryPlanner.winningPlan)
      expect(stages).toContain('IXSCAN')
      expect(stages).not.toContain('COLLSCAN')
      expect(stages).not.toContain('"stage":"SORT"')
    }
    await client.close()
  })
})
