import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { MongoClient } from 'mongodb'
import { expect, it, vi } from 'vitest'
import { checkCluster } from '#scripts/doctor/cluster-check.ts'
import { checkMongo } from '#scripts/doctor/mongo-check.ts'
import { checkRedis } from '#scripts/doctor/network-checks.ts'
import { startMongod } from '#scripts/services/mongod.ts'
import { startRedis } from '#scripts/services/redis.ts'
import { startRedisCluster } from '#scripts/services/redis-topologies.ts'
import { readConfig } from '#src/config.ts'
import { databaseOf } from '#src/open-storage.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'

it('the doctor warns of a standalone MongoDB, and leaves no collection behind', async () => {
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

it('the doctor accepts a replica set', async () => {
  const mongod = await startMongod({ replicaSet: true })
  try {
    const findings = await checkMongo(mongod.url)
    expect(findings.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(findings[0]?.says).toContain('replica set rs0')
  } finally {
    await mongod.stop()
  }
})

it('the doctor accepts a redis-server, and one that refuses the login or is another server is reported', async () => {
  const redis = await startRedis({ args: () => ['--requirepass', 's3cret'] })
  const stranger = createServer((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n'))
  await once(stranger.listen(0, '127.0.0.1'), 'listening')
  const { port }: AddressInfo = Object(stranger.address())
  const check = (redisUrl: string) => checkRedis({ redisUrl, redisAccess: {} })
  const at = (login: string) => check(redis.url.replace('//', `//${login}@`))
  try {
    const says = `127.0.0.1:${redis.port}: answers`
    await vi.waitFor(async () => expect(await at(':s3cret')).toMatchObject({ status: 'ok', says }), {
      timeout: 30_000,
    })
    const refused = [await check(redis.url), await at('ann:s3cret'), await check(`redis://127.0.0.1:${port}`)]
    for (const finding of refused) {
      expect(finding.status).toBe('failed')
      expect(JSON.stringify(finding)).not.toContain('s3cret')
    }
  } finally {
    stranger.close()
    await redis.stop()
  }
})

it('the doctor names the masters of a cluster', async () => {
  const redis = await startRedisCluster({ replicas: 0 })
  try {
    const finding = await checkRedis({ redisUrl: redis.url, redisAccess: {} })
    expect(finding).toMatchObject({ status: 'ok', says: expect.stringMatching(/^cluster of 3 masters: .*: answers$/) })
  } finally {
    await redis.stop()
  }
}, 60_000)

it('the doctor lists the nodes of a cluster from the store, and warns of an unreachable one', async () => {
  const url = new URL(`/doctor_${randomBytes(6).toString('hex')}`, process.env.MONGODB_URL).href
  const config = readConfig({ MONGODB_URL: url, REDIS_URL: 'redis://127.0.0.1:1' })
  const storage = await openPatientMongo({ url, database: databaseOf(url) })
  const self = { process: 'p', node: 'node-1', address: '127.0.0.1:1', draining: false, startedAt: 0 }
  await storage.leases?.renew(self, 600_000)
  await storage.leases?.acquire(self, [{ shard: 3, epoch: 0, leftMs: 0 }], { floor: 1, ms: 600_000 })
  // retried, since the machine may stand still for longer than the doctor waits for a server
  await vi.waitFor(
    async () => {
      const findings = await checkCluster(config)
      expect(findings.map(({ name, status, says }) => `${name} ${status}: ${says}`)).toEqual([
        'nodes ok: node-1 at 127.0.0.1:1 (1 shards)',
        'leases warning: 1023 of 1024 shards are not owned by a running node',
        expect.stringMatching(/^node node-1 warning: 127.0.0.1:1 cannot be reached from here/),
      ])
    },
    { timeout: 60_000 },
  )
  await storage.close()
  const client = await MongoClient.connect(url)
  await client.db().dropDatabase()
  await client.close()
})
