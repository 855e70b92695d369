import { afterAll, beforeAll } from 'vitest'
import { leaseContract } from '../contract/leases.ts'
import { contractKinds, storageContract } from '../contract.ts'
import { openPatientMongo } from '../mongo-patience.ts'
import { ShardedMongo } from './sharded-mongo.ts'

let cluster: ShardedMongo | undefined

const started = (): ShardedMongo => {
  if (cluster === undefined) throw new Error('the cluster has not started')
  return cluster
}

beforeAll(async () => {
  cluster = await ShardedMongo.start()
})
afterAll(() => cluster?.stop())

storageContract('sharded mongo', (now) => started().open(contractKinds, now), { foreignIds: false })

leaseContract('sharded mongo', async () => {
  const { proxy, database } = started()
  return { storage: await openPatientMongo({ url: proxy.url, database }) }
})
