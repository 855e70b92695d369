import { say } from '#scripts/services/command.ts'
import { startMongod } from '#scripts/services/mongod.ts'

/** Gives the tests a real MongoDB as `MONGODB_URL`: the one given, else a mongod of our own, one for all test files. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MONGODB_URL !== undefined) return undefined
  const mongod = await startMongod()
  process.env.MONGODB_URL = mongod.url
  // its databases end with it: what one test leaves there another may take (test/e2e/mongo-data.ts)
  process.env.MONGODB_OF_TESTS = mongod.url
  say(`mongod is running at ${mongod.url}`)
  return async () => {
    delete process.env.MONGODB_URL
    delete process.env.MONGODB_OF_TESTS
    await mongod.stop()
  }
}
