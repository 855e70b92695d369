import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { expect, it } from 'vitest'
import { checkMongo } from '../../../scripts/doctor/mongo-check.ts'
import { checkRedis } from '../../../scripts/doctor/network-checks.ts'
import { startMongod } from '../../../scripts/services/mongod.ts'
import { startRedis } from '../../../scripts/services/redis.ts'

it('finds a MongoDB well that stands alone, warns that it does, and leaves nothing behind', async () => {
  const url = new URL(`/doctor_${randomBytes(6).toString('hex')}`, process.env.MONGODB_URL).href
  const findings = await checkMongo(url)
  expect(findings.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'mongodb warning',
    'mongodb writes ok',
    'clock ok',
  ])
  const client = await MongoClient.connect(url)
  expect(await client.db().listCollections().toArray()).toEqual([])
  await client.close()
})

it('finds a replica set wholly well', async () => {
  const mongod = await startMongod({ replicaSet: true })
  try {
    const findings = await checkMongo(mongod.url)
    expect(findings.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(findings[0]?.says).toContain('replica set rs0')
  } finally {
    await mongod.stop()
  }
})

it('finds a redis-server well', async () => {
  const redis = await startRedis()
  try {
    expect(await checkRedis(redis.url)).toMatchObject({ status: 'ok', says: expect.stringContaining('PONG') })
  } finally {
    await redis.stop()
  }
})
