import { done, openServer } from './peering.ts'

/** A separate process that answers peers, for tests that stop it. It prints its address. */
const { address } = await openServer(() => Promise.resolve(done))
process.stdout.write(`${address}\n`)
