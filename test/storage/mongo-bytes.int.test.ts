import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, expect, it } from 'vitest'
import { openPatientMongo } from './mongo-patience.ts'
import { eventBytes, mergeTurns, turnText, writeStreamedTurns, writeTurns } from './turn-bytes.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const client = new MongoClient(url)
const databases: string[] = []

afterAll(async () => {
  for (const database of databases) await client.db(database).dropDatabase()
  await client.close()
})

const newDatabase = (): string => {
  const database = `bytes_${randomBytes(6).toString('hex')}`
  databases.push(database)
  return database
}

/** Bytes of the documents before compression, and of their indexes on disk. */
const used = async (database: string): Promise<number> => {
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
  const database = newDatabase()
  const storage = await openPatientMongo({ url, database })
  await writeTurns(storage)
  const bytes = await eventBytes(storage)
  const before = (await used(database)) / bytes
  await mergeTurns(storage)
  await client.db('admin').command({ fsync: 1 })
  expect(await eventBytes(storage)).toBe(bytes)
  await storage.close()
  const after = (await used(database)) / bytes
  expect(before).toBeGreaterThan(3)
  expect(after).toBeLessThanOrEqual(3)
})

it('MongoDB uses at most three times the text of turns whose last commit replaced their parts, including all indexes', {
  timeout: 60_000,
}, async () => {
  const database = newDatabase()
  const storage = await openPatientMongo({ url, database })
  const turns = 400
  await writeStreamedTurns(storage, turns)
  const stored = () => client.db(database).collection('commits').countDocuments()
  await expect.poll(stored, { timeout: 30_000 }).toBe(3 * turns)
  await client.db('admin').command({ fsync: 1 })
  const after = (await used(database)) / (turns * turnText.length)
  await storage.close()
  expect(after).toBeLessThanOrEqual(3)
})
