import { describe, expect, it } from 'vitest'
import { failedClusterSeeds, failedSeeds } from './failed-seeds.ts'
import { noFaults } from './faults.ts'
import { simulate } from './simulation.ts'

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

const brokenBy = async (list: readonly number[], nodes = 1): Promise<readonly string[]> => {
  const broken: string[] = []
  for (const seed of list) {
    const { violations } = await simulate(seed, { nodes })
    for (const violation of violations) broken.push(`seed ${seed}: ${violation}`)
  }
  return broken
}

describe('over crashes, stalls, outages and lost answers of the store', () => {
  it.each(slicesOf(seeds))(
    'every promise holds, seeds $from to $to',
    async ({ from, to }) => {
      expect(await brokenBy(upTo(to).slice(from - 1))).toEqual([])
    },
    300_000,
  )

  it('every promise holds that was ever broken', async () => {
    expect(await brokenBy(failedSeeds)).toEqual([])
  }, 300_000)
})

describe('over that, lost questions between three processes, hand-overs and a directory that goes away', () => {
  it.each(slicesOf(clusterSeeds))(
    'every promise holds, seeds $from to $to',
    async ({ from, to }) => {
      expect(await brokenBy(upTo(to).slice(from - 1), 3)).toEqual([])
    },
    300_000,
  )

  it('every promise holds that was ever broken', async () => {
    expect(await brokenBy(failedClusterSeeds, 3)).toEqual([])
  }, 300_000)

  it('goes the same way for the same seed, to the byte', async () => {
    for (const seed of [1, 2, 3]) {
      const { trace } = await simulate(seed, { nodes: 3 })
      expect((await simulate(seed, { nodes: 3 })).trace.join('\n')).toBe(trace.join('\n'))
    }
  }, 180_000)
})

it('goes the same way for the same seed, to the byte', async () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { trace } = await simulate(seed)
    expect((await simulate(seed)).trace.join('\n')).toBe(trace.join('\n'))
    expect(trace.length).toBeGreaterThan(20)
  }
}, 180_000)

it('does what it is to be tested by: crashes, stalls, outages, turns that wait, tools and deletions', async () => {
  const traces: string[] = []
  for (let seed = 1; seed <= 60; seed++) traces.push((await simulate(seed)).trace.join('\n'))
  const all = traces.join('\n')
  const kinds = [/ crashes/, / stalls for/, /the store is away/, /\$fenced/, /refused/, /unanswered/, /overtaken/]
  const acts = [/ approves .*: done/, / rejects .*: done/, / cancels .*: done/, / deletes .*: done/, /tool called for/]
  const ends = [/\.expiry\./, /eight days pass/, /action_already_resolved/, /probes .*: not_found/, /resumes /]
  expect([...kinds, ...acts, ...ends].filter((sign) => !sign.test(all))).toEqual([])
}, 300_000)

it('breaks nothing, and starts no process again, in a world without faults', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { violations, trace, processes } = await simulate(seed, { faults: noFaults })
    expect(violations).toEqual([])
    // a restart ends some runs
    expect(processes).toBeLessThanOrEqual(2)
    const calm = trace.slice(0, trace.findIndex((line) => line.endsWith('eight days pass')) >>> 0)
    expect(calm.filter((line) => / (unanswered|refused)$/.test(line))).toEqual([])
  }
}, 180_000)
