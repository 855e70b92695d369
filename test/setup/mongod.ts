import { say } from '#scripts/services/command.ts'
import { startMongod } from '#scripts/services/mongod.ts'

/** Gives the tests a real MongoDB as `MONGODB_URL`: the one given, else a mongod of our own, one for all test files. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MONGODB_URL !== undefined) return undefined
  const mongod = await startMongod()
  process.env.MONGODB_URL = mongod.url
  say(`mongod is running at ${mongod.url}`)
  return async () => {
    delete process.env.MONGODB_URL
    await mongod.stop()
  }
}
