/** The front door of `@troupe/storage-testkit`: the suites of the storage contract, for the author of another store. */
export { fanOutContract } from './contract/fan-out.ts'
export { leaseContract } from './contract/leases.ts'
export { limitsContract } from './contract/limits.ts'
export { presenceContract } from './contract/presence.ts'
export { turnsContract } from './contract/turns.ts'
export { vectorsContract } from './contract/vectors.ts'
export { type Capabilities, type OpenStorage, storageContract } from './contract.ts'
