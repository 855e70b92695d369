import { afterAll, beforeAll } from 'vitest'
import { startMongod } from '../../scripts/services/mongod.ts'
import type { Service } from '../../scripts/services/service.ts'
import { openMongoStorage } from '../../src/storage/mongo/open-mongo-storage.ts'
import { leaseContract } from './contract/leases.ts'
import { storageContract } from './contract.ts'

let mongod: Service | undefined

beforeAll(async () => {
  mongod = await startMongod({ replicaSet: true })
})
afterAll(() => mongod?.stop())

storageContract('mongo replica set', (now) => openMongoStorage({ url: mongod?.url ?? '', database: 'contract', now }))

leaseContract('mongo replica set', async () => ({
  storage: await openMongoStorage({ url: mongod?.url ?? '', database: 'contract' }),
}))
