import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, expect, it } from 'vitest'
import { openPatientMongo } from './mongo-patience.ts'
import { eventBytes, mergeTurns, writeTurns } from './turn-bytes.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `bytes_${randomBytes(6).toString('hex')}`
const client = new MongoClient(url)

afterAll(async () => {
  await client.db(database).dropDatabase()
  await client.close()
})

/** Bytes of the documents before compression, and of their indexes on disk. */
const used = async (): Promise<number> => {
  const stats = { $collStats: { storageStats: {} } }
  const [found] = await client.db(database).collection('commits').aggregate<Document>([stats]).toArray()
  const { size, totalIndexSize, indexDetails } = found?.storageStats ?? {}
  const reusable = Object.values<Document>(indexDetails).map(
    (each) => each['block-manager']['file bytes available for reuse'],
  )
  return size + totalIndexSize - reusable.reduce((sum, each) => sum + each, 0)
}

it('MongoDB uses at most three times the bytes of its events for a merged turn, including all indexes', {
  timeout: 60_000,
}, async () => {
  const storage = await openPatientMongo({ url, database })
  await writeTurns(storage)
  const bytes = await eventBytes(storage)
  const before = (await used()) / bytes
  await mergeTurns(storage)
  await client.db('admin').command({ fsync: 1 })
  expect(await eventBytes(storage)).toBe(bytes)
  await storage.close()
  const after = (await used()) / bytes
  expect(before).toBeGreaterThan(3)
  expect(after).toBeLessThanOrEqual(3)
})
