import { defineConfig } from 'vitest/config'

/**
 * Machines of others stall: there a test may fail once and is named as RETRIED at the end (specs/decisions/0089-retried-tests.md).
 * By hand, a test that fails has failed.
 */
const retriesInCi = process.env.CI === 'true' ? 1 : 0

/** Tests wait for what happens, not for a time: limits are for what never happens, also on a machine that stands still for seconds. */
const patience = { hookTimeout: 120_000, expect: { poll: { timeout: 30_000 } } }

/** A kind of test by the end of its file's name, and the real services that are started before it. */
const kind = (name: string, pattern: string, services: readonly string[], testTimeout: number) => ({
  test: {
    name,
    include: [`test/**/*${pattern}`],
    exclude: name === 'pure' ? ['test/**/*.int.test.ts', 'test/**/*.e2e.test.ts'] : [],
    globalSetup: services.map((service) => `./test/setup/${service}.ts`),
    testTimeout,
    ...patience,
    retry: retriesInCi,
  },
})

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      kind('pure', '.test.ts', [], 60_000),
      kind('int', '.int.test.ts', ['mongod'], 90_000),
      kind('e2e', '.e2e.test.ts', ['mongod', 'chromium'], 180_000),
    ],
  },
})
