import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enlist } from '#storage/mongo/kind-collection.ts'
import { listsField } from '#storage/mongo/row-lists.ts'
import { dropUnusedIndexes, unusedForMs } from '#storage/mongo/unused-indexes.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openPatientMongo } from '../mongo-patience.ts'
import { recordOf, widgets } from '../samples.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `releases_${randomBytes(6).toString('hex')}`
const client = new MongoClient(url)
const db = client.db(database)
const rows = db.collection<Document & { _id: string }>(widgets.name)
let store: Storage

/** An index of a list, as the previous release made it. */
const earlier = { key: { project: 1, 'keys.status': 1, _id: 1 }, name: 'filter_status' } as const

/** Writes a row as the previous release did: without the lists that it is in. */
const asBefore = (id: string, status: string) =>
  rows.insertOne({
    ...{ _id: id, project: 'prj_1', tenant: 'ten_1', user: null, version: 1, created_at: 1, updated_at: 1 },
    ...{ data: JSON.stringify({ status }), keys: { status: JSON.stringify(status) } },
  })

const listed = async (status: string, kind: RecordKind = widgets) => {
  const query = { where: { status }, limit: 10 }
  return (await store.records.list(kind, projectScope('prj_1'), query)).map(({ id }) => id)
}

beforeAll(async () => {
  await rows.createIndexes([earlier])
  await asBefore('wid_1', 'active')
  await asBefore('wid_2', 'active')
  await asBefore('wid_3', 'paused')
  await db
    .collection<{ _id: string }>('kinds')
    .insertOne({ _id: widgets.name, ...{ fields: ['status'], indexes: 'x' } })
  store = await openPatientMongo({ url, database, now: () => 1_000 })
  await store.records.prepare([widgets])
})

afterAll(async () => {
  await store.close()
  await db.dropDatabase()
  await client.close()
})

describe('a MongoDB database of the previous release', () => {
  it('has its rows in the lists of this one once it is prepared', async () => {
    expect(await listed('active')).toEqual(['wid_2', 'wid_1'])
    expect(await store.records.count(widgets, tenantScope('prj_1', 'ten_1'), { status: 'active' })).toBe(2)
  })

  it('lists what nodes of that release still write at once, in order, and counts it after the next check', async () => {
    await asBefore('wid_4', 'active')
    await store.records.insert(widgets, recordOf('wid_5', { data: { status: 'active' } }))
    expect(await listed('active')).toEqual(['wid_5', 'wid_4', 'wid_2', 'wid_1'])
    expect(await listed('paused')).toEqual(['wid_3'])
    await enlist(db, widgets)
    expect(await store.records.count(widgets, projectScope('prj_1'), { status: 'active' })).toBe(4)
  })

  it('lists the rows of a release that declares other filters, and that one lists ours', async () => {
    const other: RecordKind = { ...widgets, filters: [...(widgets.filters ?? []), 'colour'] }
    expect(listsField(other)).not.toBe(listsField(widgets))
    const node = await openPatientMongo({ url, database, now: () => 1_000 })
    await node.records.prepare([other])
    await store.records.insert(widgets, recordOf('wid_6', { data: { status: 'paused', colour: 'red' } }))
    await node.records.insert(other, recordOf('wid_7', { data: { status: 'paused', colour: 'red' } }))
    expect(await listed('paused')).toEqual(['wid_7', 'wid_6', 'wid_3'])
    const red = await node.records.list(other, projectScope('prj_1'), { where: { status: 'paused' }, limit: 9 })
    expect(red.map(({ id }) => id)).toEqual(['wid_7', 'wid_6', 'wid_3'])
    await node.close()
  })

  it('keeps the indexes of that release until no node has read by them for a day', async () => {
    const has = async () => (await rows.indexes()).some(({ name }) => name === earlier.name)
    await rows.createIndex({ place: 1 }, { name: 'of_the_operator' })
    await dropUnusedIndexes(db, widgets, 0)
    await rows.find({ project: 'prj_1', 'keys.status': '"active"' }, { hint: earlier.name }).toArray()
    await dropUnusedIndexes(db, widgets, unusedForMs)
    expect(await has()).toBe(true)
    await dropUnusedIndexes(db, widgets, 2 * unusedForMs - 1)
    expect(await has()).toBe(true)
    await dropUnusedIndexes(db, widgets, 2 * unusedForMs)
    expect(await has()).toBe(false)
    expect((await rows.indexes()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['of_the_operator', 'rows_of_project', listsField(widgets)]),
    )
    expect(await listed('active')).toContain('wid_1')
  })
})
