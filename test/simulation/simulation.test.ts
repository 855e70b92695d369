import { describe, expect, it } from 'vitest'
import { failedClusterSeeds, failedRunClusterSeeds, failedRunSeeds, failedSeeds } from './failed-seeds.ts'
import { noFaults } from './faults.ts'
import { type Scenario, shareOf, simulate } from './simulation.ts'

const seeds = Number(process.env.SIMULATION_SEEDS ?? (process.env.CI === undefined ? 100 : 500))
const clusterSeeds = Math.ceil(seeds / 2)
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

/** So many seeds in a test: a machine that is four times slower has time for them. */
const perTest = 50
const slicesOf = (count: number) =>
  Array.from({ length: Math.ceil(count / perTest) }, (_, at) => ({
    from: at * perTest + 1,
    to: Math.min(count, (at + 1) * perTest),
  }))

const brokenBy = async (scenario: Scenario, list: readonly number[], nodes = 1): Promise<readonly string[]> => {
  const broken: string[] = []
  for (const seed of list) {
    const { violations } = await simulate(seed, { nodes, scenario })
    for (const violation of violations) broken.push(`${scenario} ${seed}: ${violation}`)
  }
  return broken
}

/** Everything that ever failed, by scenario. */
const failed = {
  sessions: { one: failedSeeds, three: failedClusterSeeds },
  runs: { one: failedRunSeeds, three: failedRunClusterSeeds },
} as const
const scenarios = ['sessions', 'runs'] as const

describe.each(scenarios)('%s, over crashes, stalls, outages and lost answers of the store', (scenario) => {
  it.each(slicesOf(shareOf(scenario, seeds)))(
    'keep every promise, seeds $from to $to',
    async ({ from, to }) => {
      expect(await brokenBy(scenario, upTo(to).slice(from - 1))).toEqual([])
    },
    300_000,
  )

  it('keep every promise that was ever broken', async () => {
    expect(await brokenBy(scenario, failed[scenario].one)).toEqual([])
  }, 300_000)

  it('go the same way for the same seed, to the byte', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { trace } = await simulate(seed, { scenario })
      expect((await simulate(seed, { scenario })).trace.join('\n')).toBe(trace.join('\n'))
      expect(trace.length).toBeGreaterThan(20)
    }
  }, 180_000)
})

describe.each(scenarios)(
  '%s, over that, lost questions between three processes, hand-overs and a directory that goes away',
  (scenario) => {
    it.each(slicesOf(shareOf(scenario, clusterSeeds)))(
      'keep every promise, seeds $from to $to',
      async ({ from, to }) => {
        expect(await brokenBy(scenario, upTo(to).slice(from - 1), 3)).toEqual([])
      },
      300_000,
    )

    it('keep every promise that was ever broken', async () => {
      expect(await brokenBy(scenario, failed[scenario].three, 3)).toEqual([])
    }, 300_000)

    it('go the same way for the same seed, to the byte', async () => {
      for (const seed of [1, 2, 3]) {
        const { trace } = await simulate(seed, { nodes: 3, scenario })
        expect((await simulate(seed, { nodes: 3, scenario })).trace.join('\n')).toBe(trace.join('\n'))
      }
    }, 180_000)
  },
)

it('does what it is to be tested by: crashes, stalls, outages, turns that wait, tools and deletions', async () => {
  const traces: string[] = []
  for (let seed = 1; seed <= 60; seed++) traces.push((await simulate(seed)).trace.join('\n'))
  const all = traces.join('\n')
  const kinds = [/ crashes/, / stalls for/, /the store is away/, /\$fenced/, /refused/, /unanswered/, /overtaken/]
  const acts = [/ approves .*: done/, / rejects .*: done/, / cancels .*: done/, / deletes .*: done/, /tool called for/]
  const ends = [/\.expiry\./, /eight days pass/, /action_already_resolved/, /probes .*: not_found/, /resumes /]
  expect([...kinds, ...acts, ...ends].filter((sign) => !sign.test(all))).toEqual([])
}, 300_000)

it('does with runs what it is to be tested by: delegation by models and callers, decisions, ends of all kinds', async () => {
  const traces: string[] = []
  for (let seed = 1; seed <= 25; seed++) traces.push((await simulate(seed, { scenario: 'runs' })).trace.join('\n'))
  const all = traces.join('\n')
  const acts = [/ cancels run_.*: done/, / deletes run_.*: done/, / delegates .*: done/, / delegates .*: \w+_\w+/]
  const steps = [/ child_prepared by/, / child_ended by/, / slot_granted by/, / slot_returned by/, / runs_picked by/]
  const more = [/ (cancel|expire) by run_/, /after\.expiry\.run/, /after\.duration/, /tool called for/, /notice:evt_/]
  const reads = [/ probes run_.*: not_found/, / reads run_.*: done/, / approves .*: done/, / rejects .*: done/]
  expect([...acts, ...steps, ...more, ...reads].filter((sign) => !sign.test(all))).toEqual([])
}, 300_000)

it.each(scenarios)(
  '%s break nothing, and start no process again, in a world without faults',
  async (scenario) => {
    for (let seed = 1; seed <= 10; seed++) {
      const { violations, trace, processes } = await simulate(seed, { faults: noFaults, scenario })
      expect(violations).toEqual([])
      // a restart ends some runs
      expect(processes).toBeLessThanOrEqual(2)
      const calm = trace.slice(0, trace.findIndex((line) => line.endsWith('eight days pass')) >>> 0)
      expect(calm.filter((line) => / (unanswered|refused)$/.test(line))).toEqual([])
    }
  },
  180_000,
)
