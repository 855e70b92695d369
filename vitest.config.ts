import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { leftToTheNight } from './test/setup/left-to-the-night.ts'
import { LongestFirst } from './test/setup/longest-first.ts'

/**
 * Machines of others stall: there a test may fail once and is named as RETRIED at the end (specs/decisions/0103-time-of-ci.md).
 * By hand, a test that fails has failed.
 */
const retriesInCi = process.env.CI === 'true' ? 1 : 0

/**
 * Tests wait for what happens, not for a time: limits are for what never happens, also on a machine that stands still for
 * seconds. A test that asserts nothing fails.
 */
const patience = { hookTimeout: 120_000, expect: { poll: { timeout: 30_000, interval: 100 }, requireAssertions: true } }

/**
 * Node loads tests and sources, as a start from sources does: transforms by the runner took a sixth of the CPU of the pure
 * tests (specs/decisions/0103-time-of-ci.md). So no module can be mocked, and none is.
 */
const loadedByNode = {
  execArgv: [
    '--disable-warning=ExperimentalWarning',
    '--import',
    resolve(import.meta.dirname, 'test/setup/kept-sources.js'),
  ],
  experimental: { viteModuleRunner: false, nodeLoader: false },
}

/** A kind of test, by its files, and the real services that are started before it. */
interface Kind {
  readonly include: string
  readonly exclude?: readonly string[]
  readonly services?: readonly string[]
  readonly testTimeout: number
  /** Whether each file has a process of its own. To load the sources anew for each takes longer than most files do. */
  readonly isolate?: boolean
}

const kind = (name: string, { include, exclude = [], services = [], testTimeout, isolate = false }: Kind) => ({
  test: {
    name,
    include: [include],
    exclude: [...exclude, ...leftToTheNight(process.env)],
    globalSetup: services.map((service) => `./test/setup/${service}.ts`),
    testTimeout,
    isolate,
    ...patience,
    ...loadedByNode,
    retry: retriesInCi,
  },
})

const [int, e2e, simulation] = ['test/**/*.int.test.ts', 'test/**/*.e2e.test.ts', 'test/simulation/*.test.ts']

export default defineConfig({
  test: {
    ...loadedByNode,
    pool: 'forks',
    // e2e tests mostly wait for processes that start, end or stream: two more workers use what two leave of two cores
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      // ids and clocks of a simulated world are a process's own
      kind('simulation', { include: simulation, testTimeout: 300_000, isolate: true }),
      kind('pure', { include: 'test/**/*.test.ts', exclude: [int, e2e, simulation], testTimeout: 60_000 }),
      kind('int', { include: int, services: ['mongod'], testTimeout: 90_000 }),
      kind('e2e', {
        include: e2e,
        services: ['bundle', 'mongod', 'chromium', 'ecosystem'],
        testTimeout: 180_000,
      }),
    ],
  },
})
