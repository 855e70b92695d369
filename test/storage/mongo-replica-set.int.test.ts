import { afterAll, beforeAll } from 'vitest'
import { startMongod } from '#scripts/services/mongod.ts'
import type { Service } from '#scripts/services/service.ts'
import { leaseContract } from './contract/leases.ts'
import { storageContract } from './contract.ts'
import { openPatientMongo } from './mongo-patience.ts'

let mongod: Service | undefined

beforeAll(async () => {
  mongod = await startMongod({ replicaSet: true })
})
afterAll(() => mongod?.stop())

storageContract('mongo replica set', (now) => openPatientMongo({ url: mongod?.url ?? '', database: 'contract', now }))

leaseContract('mongo replica set', async () => ({
  storage: await openPatientMongo({ url: mongod?.url ?? '', database: 'contract' }),
}))
