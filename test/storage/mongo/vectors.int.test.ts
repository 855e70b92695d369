import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Storage, StoreUnavailable } from '#storage/ports.ts'
import type { StoredVector, VectorStore } from '#storage/search/vector-port.ts'
import { VectorSearchDeployment } from '#test/support/vector-search-deployment.ts'
import { vectorsContract } from '../contract/vectors.ts'
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

  vectorsContract(async () => storage)

  it('are removed with their blob where the deployment has lost its vector search', async () => {
    await put('prj_lost', 'ten_1.ksr_1.vec', { a: vectorOf(1, 2) })
    const plain = await openPatientMongo({ url: mongodUrl, database })
    expect(plain.vectors).toBeNull()
    await plain.blobs.remove('prj_lost', 'ten_1.')
    await plain.close()
    expect(await vectors().count('prj_lost', 'ten_1.ksr_1.vec')).toBe(0)
  })

  it('have one index for each length, which is created once and again after it was dropped', async () => {
    await put('prj_length', 'own.vec.1', { a: vectorOf(1, 2, 3) })
    expect(deployment.indexesOf(database).toSorted()).toEqual(['vectors_2', 'vectors_256', 'vectors_3'])
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
