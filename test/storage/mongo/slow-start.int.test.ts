import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mongodSpec } from '#scripts/services/mongod.ts'
import { type Service, startService } from '#scripts/services/service.ts'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import { widgets } from '../samples.ts'

/** Longer than the socket timeout of requests, which is 3 s. */
const slowMs = 5_000

let mongod: Service
let admin: MongoClient

beforeAll(async () => {
  const spec = mongodSpec(null)
  mongod = await startService({
    ...spec,
    args: (port, folder) => [...spec.args(port, folder), '--setParameter', 'enableTestCommands=1'],
  })
  admin = await new MongoClient(mongod.url).connect()
})
afterAll(async () => {
  await admin.close()
  await mongod.stop()
})

/** Far longer than a request waits, also on a machine that stands still for seconds. */
const endlessMs = 20_000

/** Delays the next command of this name. */
const delayNext = (command: string, blockTimeMS = slowMs) =>
  admin.db('admin').command({
    configureFailPoint: 'failCommand',
    mode: { times: 1 },
    data: { failCommands: [command], blockConnection: true, blockTimeMS },
  })

it('a start waits for indexes that take longer to build than a request may wait', { timeout: 60_000 }, async () => {
  await delayNext('createIndexes')
  const from = performance.now()
  const store = await openMongoStorage({ url: mongod.url, database: 'slow' })
  expect(performance.now() - from, 'the commits').toBeGreaterThan(slowMs)
  await delayNext('createIndexes')
  const second = performance.now()
  await store.records.prepare([widgets])
  expect(performance.now() - second, 'a kind of records').toBeGreaterThan(slowMs)
  await delayNext('find', endlessMs)
  const third = performance.now()
  expect(await store.commits.head('ses_1')).toBeNull()
  expect(performance.now() - third, 'a read of a request is repeated').toBeLessThan(endlessMs)
  await store.close()
})
