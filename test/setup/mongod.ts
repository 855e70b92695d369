import { say } from '#scripts/services/command.ts'
import { startMongod } from '#scripts/services/mongod.ts'

/** Provides a MongoDB to the tests as `MONGODB_URL`: the given one, else a new mongod for all test files. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MONGODB_URL !== undefined) return undefined
  const mongod = await startMongod()
  process.env.MONGODB_URL = mongod.url
  // its databases are temporary, so tests may reuse emptied ones (test/e2e/mongo-data.ts)
  process.env.MONGODB_OF_TESTS = mongod.url
  say(`mongod is running at ${mongod.url}`)
  return async () => {
    delete process.env.MONGODB_URL
    delete process.env.MONGODB_OF_TESTS
    await mongod.stop()
  }
}
