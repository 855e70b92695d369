import { defineConfig } from 'vitest/config'

/** A kind of test by the end of its file's name, and the real services that are started before it. */
const kind = (name: string, pattern: string, services: readonly string[], testTimeout: number) => ({
  test: {
    name,
    include: [`test/**/*${pattern}`],
    exclude: name === 'pure' ? ['test/**/*.int.test.ts', 'test/**/*.e2e.test.ts'] : [],
    globalSetup: services.map((service) => `./test/setup/${service}.ts`),
    testTimeout,
    hookTimeout: 60_000,
  },
})

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      kind('pure', '.test.ts', [], 10_000),
      kind('int', '.int.test.ts', ['mongod'], 30_000),
      kind('e2e', '.e2e.test.ts', ['mongod', 'chromium'], 60_000),
    ],
  },
})
