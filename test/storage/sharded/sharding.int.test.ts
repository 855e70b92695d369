import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { listIndexes } from '#storage/list-index.ts'
import { shardCollections } from '#storage/mongo/shard-collections.ts'
import { ownShardKeys, shardKeyOf, wholeCollections } from '#storage/mongo/sharding.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openPatientMongo } from '../mongo-patience.ts'
import { badges, commitOf, letters, recordOf, widgets } from '../samples.ts'
import { ShardedMongo } from './sharded-mongo.ts'

/** A kind whose rows of one project are on several shards, with the lists of sessions. */
const rows: RecordKind = {
  name: 'rows',
  filters: ['status', { fields: ['status'], within: 'tenant' }],
}
const sampleKinds = [rows, widgets, badges, letters]

let cluster: ShardedMongo
let client: MongoClient
let store: Storage

beforeAll(async () => {
  cluster = await ShardedMongo.start()
  client = new MongoClient(cluster.proxy.url)
})
afterAll(async () => {
  await Promise.all([client.close(), store.close()])
  await cluster.stop()
})

describe('a database of one server', () => {
  it('is sharded with its documents unchanged, and again without effect', async () => {
    const { proxy, database } = cluster
    store = await openPatientMongo({ url: proxy.url, database })
    await store.records.prepare(sampleKinds)
    const actors = Array.from({ length: 20 }, (_, n) => `ses_before_${n}`)
    await store.commits.append(actors.map((actor) => commitOf(actor, 1)))
    const made = actors.map((actor, n) => recordOf(actor, { data: { status: n % 2 === 0 ? 'even' : 'odd' } }))
    await store.records.project(made.map((record) => ({ kind: rows, record })))
    await store.blobs.put('prj_1', 'before', 'content')

    const first = await shardCollections({ url: proxy.url, database }, sampleKinds)
    expect(await shardCollections({ url: proxy.url, database }, sampleKinds)).toEqual(first)
    const spread = await cluster.counts('commits', 'rows')
    for (const counts of spread) expect(Math.min(...counts)).toBeGreaterThan(0)

    for (const actor of actors) expect((await store.commits.head(actor))?.seq).toBe(1)
    const listed = await store.records.list(rows, projectScope('prj_1'), { limit: 100 })
    expect(listed).toEqual(made.toSorted((a, b) => (a.id < b.id ? 1 : -1)))
    expect(await store.blobs.get('prj_1', 'before')).toBe('content')
  })

  it('that is no cluster is refused', async () => {
    const url = process.env.MONGODB_URL ?? ''
    await expect(shardCollections({ url, database: cluster.database }, [])).rejects.toThrow(
      'not the address of a mongos',
    )
  })

  it('that is sharded by another key is refused', async () => {
    const other: RecordKind = { name: 'others' }
    const database = `${cluster.database}_other`
    await client.db('admin').command({ enableSharding: database })
    await client.db('admin').command({ shardCollection: `${database}.others`, key: { tenant: 1 } })
    const place = { url: cluster.proxy.url, database }
    await expect(shardCollections(place, [other])).rejects.toThrow('others is sharded by another key')
    await client.db(database).dropDatabase()
  })
})

describe('on two shards', () => {
  it('pages, filters and totals of one project are those of both', async () => {
    const scope = tenantScope('prj_lists', 'ten_1')
    const made = Array.from({ length: 60 }, (_, n) =>
      recordOf(`row_${String(n).padStart(3, '0')}`, {
        ...{ project: 'prj_lists', tenant: n % 3 === 0 ? 'ten_2' : 'ten_1' },
        data: { status: n % 2 === 0 ? 'even' : 'odd' },
      }),
    )
    await store.records.project(made.map((record) => ({ kind: rows, record })))
    const wanted = made
      .filter(({ tenant, data }) => tenant === 'ten_1' && data.status === 'odd')
      .map(({ id }) => id)
      .reverse()
    const where = { status: 'odd' }
    const ids = async (query: { after?: string; skip?: number }) =>
      (await store.records.list(rows, scope, { where, limit: 7, ...query })).map(({ id }) => id)
    expect(await ids({})).toEqual(wanted.slice(0, 7))
    expect(await ids({ after: wanted[6] ?? '' })).toEqual(wanted.slice(7, 14))
    expect(await ids({ skip: 5 })).toEqual(wanted.slice(5, 12))
    expect(await store.records.total(rows, scope, where)).toEqual({ count: wanted.length, is: 'exact' })
  })

  it('every statement that is not declared as scattered carries a shard key', async () => {
    const { proxy } = cluster
    proxy.reset()
    const actor = 'ses_keyed'
    await store.commits.append([commitOf(actor, 1, { open: true }), commitOf(actor, 2, { cause: `${actor}:1:0#1` })])
    await store.commits.settle({ close: [{ actor, seq: 1 }], undue: [], retire: [{ actor, seq: 2 }] })
    await store.commits.merge({ actor, effect: `${actor}:1:0`, after: 1, before: 2, epoch: 1 })
    await store.commits.byCause(actor, 'cause:1')
    await store.commits.events(actor, 0, 10)
    await store.commits.at(actor, 2)
    await store.commits.forget(actor)
    const record = recordOf('row_keyed', { data: { status: 'even' } })
    await store.records.project([{ kind: rows, record }])
    await store.records.replace(rows, { ...record, version: 2 })
    await store.records.getMany(rows, projectScope('prj_1'), ['row_keyed', 'row_000'])
    await store.records.remove(rows, projectScope('prj_1'), 'row_keyed')
    await store.blobs.put('prj_1', 'keyed', 'content')
    await store.blobs.remove('prj_1', 'keyed')
    const message = { id: 'm', to: actor, event: { type: 'approve' } }
    const letter = recordOf('let_keyed', { data: { address: 'a' }, outbox: [message] })
    await store.records.insert(letters, letter)
    await store.records.find(letters, projectScope('prj_1'), { address: 'a' })
    expect(await store.records.closeOutbox(letters, letter)).toBe(true)
    expect(proxy.traffic.broadcasts).toEqual(new Map())
    expect(proxy.traffic.targeted).toBeGreaterThan(15)
    await store.commits.open({ limit: 1 })
    await store.records.sweep(rows, 1)
    expect([...proxy.traffic.broadcasts.keys()]).toEqual([
      'find commits (scattered: sweep)',
      'delete rows (scattered: sweep)',
    ])
  })
})

describe('the stand-in refuses what a mongos refuses', () => {
  const collection = () => client.db(cluster.database).collection<{ _id: string; project: string }>('rows')
  const commits = () => client.db(cluster.database).collection<{ _id: string; actor: string }>('commits')

  it.each([
    [
      'an update of one document without the shard key',
      61,
      () => collection().updateOne({ _id: 'x' }, { $set: { a: 1 } }),
    ],
    [
      'an upsert without the shard key',
      61,
      () => collection().updateOne({ project: 'p' }, { $set: { a: 1 } }, { upsert: true }),
    ],
    ['an upsert of many', 61, () => commits().updateMany({ _id: 'x' }, { $set: { a: 1 } }, { upsert: true })],
    ['a removal of one document without the shard key', 61, () => commits().deleteOne({ _id: 'x' })],
    ['a change of one that is returned, without the shard key', 61, () => commits().findOneAndDelete({ _id: 'x' })],
    [
      'a change of the shard key',
      66,
      () => collection().updateOne({ _id: 'x', project: 'p' }, { $set: { project: 'q' } }),
    ],
    [
      'a replacement with another shard key',
      66,
      () => collection().replaceOne({ _id: 'x', project: 'p' }, { project: 'q' }),
    ],
    ['a document without the shard key', 61, () => client.db(cluster.database).collection('rows').insertOne({ a: 1 })],
    [
      'a unique index that does not begin with the shard key',
      67,
      () => collection().createIndex({ a: 1 }, { unique: true }),
    ],
    ['the loss of the index of the shard key', 72, () => collection().dropIndex('rows_of_project')],
    ['a read of every shard that is not declared', 61, () => commits().findOne({ seq: 1 })],
  ])('%s', async (_, code, statement) => {
    await expect(statement()).rejects.toMatchObject({ code })
  })

  it('sharding by a key that a unique index does not begin with', async () => {
    const own = `${cluster.database}.uniquely`
    await client.db(cluster.database).collection('uniquely').createIndex({ a: 1 }, { unique: true })
    const refused = client.db('admin').command({ shardCollection: own, key: { project: 1 } })
    await expect(refused).rejects.toThrow('a unique index on a does not begin with project')
  })

  it('and takes an update, an upsert and a removal with the shard key', async () => {
    const of = { _id: 'accepted', project: 'p' }
    expect((await collection().updateOne(of, { $set: { a: 1 } }, { upsert: true })).upsertedCount).toBe(1)
    expect((await collection().replaceOne(of, { project: 'p' })).matchedCount).toBe(1)
    expect((await collection().deleteOne(of)).deletedCount).toBe(1)
  })
})

describe('every collection of the product', () => {
  it('has a shard key with which its unique keys and an index begin, or is declared whole', () => {
    for (const kind of kinds) {
      const key = shardKeyOf(kind)
      const unique = (kind.unique ?? []).map(({ global, fields }) => [...(global ? [] : ['project']), ...fields])
      if (key === null)
        expect(
          kind.unique?.some(({ global }) => global),
          kind.name,
        ).toBe(true)
      else for (const fields of unique) expect(fields.slice(0, Object.keys(key).length)).toEqual(Object.keys(key))
      expect(listIndexes(kind)[0]?.owner).toEqual(['project'])
    }
    expect(
      kinds
        .filter((kind) => shardKeyOf(kind) === null)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([
      'agent_keys',
      'connection_sign_ins',
      'dashboard_sessions',
      'forgotten_users',
      'members',
      'oauth_grants',
      'oidc_connections',
      'project_keys',
      'projects',
    ])
    expect([...Object.keys(ownShardKeys), ...Object.keys(wholeCollections)].sort()).toEqual([
      'blobs',
      'commits',
      'kinds',
      'leases',
      'vectors',
    ])
  })
})
