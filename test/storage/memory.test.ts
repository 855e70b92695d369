import { openMemoryStorage } from '../support/memory/open-memory-storage.ts'
import { leaseContract } from './contract/leases.ts'
import { storageContract } from './contract.ts'

storageContract('memory', (now) => openMemoryStorage({ now }))

leaseContract('memory', async () => {
  let now = 10_000
  return {
    storage: openMemoryStorage({ now: () => now }),
    tick: () => {
      now += 50
    },
  }
})
