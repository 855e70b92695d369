import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Storage, StoreUnavailable } from '#storage/ports.ts'
import type { StoredVector, VectorStore } from '#storage/vector-port.ts'
import { VectorSearchDeployment } from '#test/support/vector-search-deployment.ts'
import { openPatientMongo } from '../mongo-patience.ts'

const mongodUrl = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `vectors_${randomBytes(6).toString('hex')}`
const vectorOf = (...numbers: number[]): StoredVector['numbers'] => Int8Array.from(numbers)

describe('the vectors of a MongoDB deployment with vector search', () => {
  let deployment: VectorSearchDeployment
  let storage: Storage
  let client: MongoClient

  beforeAll(async () => {
    deployment = await VectorSearchDeployment.open(mongodUrl)
    client = await MongoClient.connect(mongodUrl)
    storage = await openPatientMongo({ url: deployment.url, database, vectorSearchMinChunks: 10 })
  })
  afterAll(async () => {
    await storage.close()
    await client.db(database).dropDatabase()
    await client.close()
    await deployment.close()
  })

  const vectors = (): VectorStore => {
    if (storage.vectors === null) throw new Error('no vectors')
    return storage.vectors
  }
  const put = (project: string, blob: string, found: Readonly<Record<string, StoredVector['numbers']>>, group = 'g') =>
    vectors().put({
      ...{ project, blob, space: 'base model', group },
      vectors: Object.entries(found).map(([id, numbers]) => ({ id, numbers })),
    })
  const nearest = async (project: string, vector: readonly number[], more: object = {}) => {
    const query = { project, space: 'base model', groups: null, vector: Float32Array.from(vector), limit: 2, ...more }
    return (await vectors().nearest(query)).map(({ id }) => id)
  }

  it('are found by their direction, nearest first, within their project, space and groups', async () => {
    await put('prj_near', 'own.vec.1', { north: vectorOf(0, 100), east: vectorOf(3, 0) }, 'one')
    await put('prj_near', 'own.vec.2', { northeast: vectorOf(50, 50), south: vectorOf(0, -90) }, 'two')
    await put('prj_other', 'own.vec.3', { foreign: vectorOf(0, 100) })
    expect(await nearest('prj_near', [0.001, 0.9])).toEqual(['north', 'northeast'])
    expect(await nearest('prj_near', [0, 0.9], { groups: ['two'] })).toEqual(['northeast', 'south'])
    expect(await nearest('prj_near', [0, 0.9], { space: 'base other-model' })).toEqual([])
    expect(await nearest('prj_other', [0, 0.9])).toEqual(['foreign'])
    const [found] = await vectors().get('prj_near', 'base model', ['south', 'foreign'])
    expect(found).toEqual({ id: 'south', numbers: vectorOf(0, -90) })
    const group = await vectors().ofGroup('prj_near', 'base model', 'two')
    expect(group.map(({ id }) => id).toSorted()).toEqual(['northeast', 'south'])
  })

  it('are stored once however often they are put, and counted by blob and by group', async () => {
    for (let times = 0; times < 2; times++) {
      await Promise.all([
        put('prj_count', 'own.vec.1', { a: vectorOf(1, 2), b: vectorOf(2, 1) }, 'one'),
        put('prj_count', 'own.vec.2', { c: vectorOf(1, 2) }, 'two'),
      ])
    }
    expect(await vectors().count('prj_count', 'own.vec.1')).toBe(2)
    const { counts, dimensions } = await vectors().space('prj_count', 'base model')
    expect(Object.fromEntries(counts)).toEqual({ one: 2, two: 1 })
    expect(dimensions).toBe(2)
  })

  it('are removed with their blob, and with every blob of its owner', async () => {
    const left = async () => Object.fromEntries((await vectors().space('prj_gone', 'base model')).counts)
    for (const owner of ['ten_1.ksr_1', 'ten_1.ksr_2']) {
      for (const blob of ['vec.1', 'vec.12'])
        await put('prj_gone', `${owner}.${blob}`, { [blob]: vectorOf(1, 2) }, owner)
    }
    await storage.blobs.remove('prj_gone', 'ten_1.ksr_1.vec.12')
    expect(await left()).toEqual({ 'ten_1.ksr_1': 1, 'ten_1.ksr_2': 2 })
    await storage.blobs.remove('prj_gone', 'ten_1.ksr_1.')
    expect(await left()).toEqual({ 'ten_1.ksr_2': 2 })
    const plain = await openPatientMongo({ url: mongodUrl, database })
    expect(plain.vectors).toBeNull()
    await plain.blobs.remove('prj_gone', 'ten_1.')
    await plain.close()
    expect(await left()).toEqual({})
  })

  it('are removed by their groups, in every project', async () => {
    for (const project of ['prj_late', 'prj_later']) {
      for (const group of ['ksr_1', 'ksr_12'])
        await put(project, `own.${group}.vec`, { [group]: vectorOf(1, 2) }, group)
    }
    await vectors().removeGroups([])
    await vectors().removeGroups(['ksr_1', 'ksr_3'])
    for (const project of ['prj_late', 'prj_later'])
      expect(Object.fromEntries((await vectors().space(project, 'base model')).counts)).toEqual({ ksr_12: 1 })
  })

  it('without a direction count as stored, and are not found', async () => {
    await put('prj_zero', 'own.vec.1', { none: vectorOf(0, 0), some: vectorOf(1, 0) })
    expect(await vectors().count('prj_zero', 'own.vec.1')).toBe(2)
    expect(await nearest('prj_zero', [1, 0])).toEqual(['some'])
    expect((await vectors().get('prj_zero', 'base model', ['none', 'some'])).map(({ id }) => id)).toEqual(['some'])
  })

  it('have one index for each length, which is created once and again after it was dropped', async () => {
    await put('prj_length', 'own.vec.1', { a: vectorOf(1, 2, 3) })
    expect(deployment.indexesOf(database).toSorted()).toEqual(['vectors_2', 'vectors_3'])
    const other = await openPatientMongo({ url: deployment.url, database, vectorSearchMinChunks: 10 })
    deployment.build(false)
    expect(await other.vectors?.isReady(3)).toBe(false)
    deployment.dropIndexes()
    const third = await openPatientMongo({ url: deployment.url, database, vectorSearchMinChunks: 10 })
    expect(await third.vectors?.isReady(3)).toBe(false)
    expect(deployment.indexesOf(database)).toEqual(['vectors_3'])
    deployment.build(true)
    await expect.poll(() => third.vectors?.isReady(3)).toBe(true)
    await Promise.all([other.close(), third.close()])
  })

  it('are searched again once an index that was dropped is back', async () => {
    await put('prj_drop', 'own.vec.1', { a: vectorOf(1, 2, 3, 4) })
    const ready = () => vectors().isReady(4)
    expect(await ready()).toBe(true)
    deployment.dropIndexes()
    expect(await ready()).toBe(true)
    expect(await nearest('prj_drop', [1, 2, 3, 4])).toEqual([])
    expect(await ready()).toBe(false)
    expect(deployment.indexesOf(database)).toEqual(['vectors_4'])
    await expect.poll(ready).toBe(true)
    deployment.build(false)
    await expect(nearest('prj_drop', [1, 2, 3, 4])).rejects.toThrow('INITIAL_SYNC')
    expect(await ready()).toBe(false)
    deployment.build(true)
  })

  it('are stored without the right to create the index, which is never ready then', async () => {
    deployment.refusesIndexes = true
    await expect(put('prj_right', 'own.vec.1', { a: vectorOf(1, 2, 3, 4, 5) })).rejects.toThrow('Not authorized')
    await put('prj_right', 'own.vec.2', { b: vectorOf(1, 2, 3, 4, 5) })
    expect(Object.fromEntries((await vectors().space('prj_right', 'base model')).counts)).toEqual({ g: 2 })
    expect(await vectors().isReady(5)).toBe(false)
    deployment.refusesIndexes = false
    await expect.poll(() => vectors().isReady(5)).toBe(true)
  })

  it('wait for a search process that starts after the server, or restarts', async () => {
    deployment.isSearchAway = true
    const early = await openPatientMongo({ url: deployment.url, database, vectorSearchMinChunks: 10 })
    await expect(early.vectors?.isReady(2)).rejects.toThrow(StoreUnavailable)
    await expect(nearest('prj_near', [0.001, 0.9])).rejects.toThrow(StoreUnavailable)
    deployment.isSearchAway = false
    await expect.poll(() => early.vectors?.isReady(2)).toBe(true)
    await early.close()
  })

  it('are not waited for by a search for longer than the database may take', async () => {
    deployment.isSlow = true
    await expect(nearest('prj_near', [0.001, 0.9])).rejects.toThrow(StoreUnavailable)
    deployment.isSlow = false
  })

  it('are absent where the deployment refuses them, and where they are switched off', async () => {
    const refused = await openPatientMongo({ url: mongodUrl, database, vectorSearchMinChunks: 10 })
    const off = await openPatientMongo({ url: deployment.url, database })
    expect([refused.vectors, off.vectors]).toEqual([null, null])
    await Promise.all([refused.close(), off.close()])
  })
})
