import { describe, expect, it } from 'vitest'
import { atNight, drawnOf, runSeed } from '#test/setup/at-night.ts'
import { type Scenario, type SimulationResult, shareOf, simulate } from './simulation.ts'
import { noFaults } from './world/faults.ts'

/** The subject of a file of seeds; each scenario has a separate file, so that all workers have some. */
export interface ScenarioSuite {
  readonly scenario: Scenario
  readonly nodes: number
  /** Every seed that ever violated a guarantee here. */
  readonly failed: readonly number[]
}

/**
 * Seeds of all scenarios on one process, others at each run, with a quarter of those that ever failed among them, since a
 * seed is a random one again once the draws have changed; half as many on several. `npm run nightly` runs all of them.
 */
const seedsInAll = atNight ? 75 : 25
const ofFailed = 4
/** What a scenario runs at least besides the seeds that once failed. */
const minFirst = atNight ? 8 : 3
/** Seeds that are run twice and compared byte by byte. */
const repeated = atNight ? 5 : 2
const timeoutMs = 300_000

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

/** So many of the first seeds, as many as run each night: at night the first, by day others at each run. */
export const drawnSeeds = (count: number, ofNight: number): readonly number[] =>
  upTo(count).map((each) => (((atNight ? 0 : runSeed) * count + each - 1) % ofNight) + 1)

/** Runs seeds one at a time, each once for all tests that read it. */
export class SeedRuns {
  readonly #scenario: Scenario
  readonly #nodes: number
  readonly #results = new Map<number, SimulationResult>()

  constructor({ scenario, nodes }: Pick<ScenarioSuite, 'scenario' | 'nodes'>) {
    this.#scenario = scenario
    this.#nodes = nodes
  }

  /** The result of a seed, from an earlier run if there was one. */
  async of(seed: number): Promise<SimulationResult> {
    const known = this.#results.get(seed) ?? (await this.again(seed))
    this.#results.set(seed, known)
    return known
  }

  /** Runs a seed, whether it ran before or not. */
  again(seed: number): Promise<SimulationResult> {
    return simulate(seed, { nodes: this.#nodes, scenario: this.#scenario })
  }

  async brokenBy(seeds: readonly number[]): Promise<readonly string[]> {
    const broken: string[] = []
    for (const seed of seeds) {
      const { violations } = await this.of(seed)
      for (const violation of violations) broken.push(`${this.#scenario} ${seed}: ${violation}`)
    }
    return broken
  }

  /** The patterns that neither the traces of earlier runs nor those of these or of the first seeds contain. */
  async missing(
    signs: readonly RegExp[],
    { showing, first }: { readonly showing: readonly number[]; readonly first: number },
  ): Promise<readonly RegExp[]> {
    let left = signs
    for (const seed of new Set([...this.#results.keys(), ...showing, ...upTo(first)])) {
      if (left.length === 0) break
      const trace = (await this.of(seed)).trace.join('\n')
      left = left.filter((sign) => !sign.test(trace))
    }
    return left
  }
}

/** Declares the tests of a scenario for the seeds of this run. @returns its runs, for further checks in a file. */
export const scenarioSuite = ({ scenario, nodes, failed }: ScenarioSuite): SeedRuns => {
  const runs = new SeedRuns({ scenario, nodes })
  const inAll = shareOf(scenario, nodes > 1 ? Math.ceil(seedsInAll / 2) : seedsInAll)
  const onceFailed = drawnOf(failed, ofFailed)
  const seeds = drawnSeeds(Math.max(inAll - onceFailed.length, minFirst), shareOf(scenario, nodes > 1 ? 1000 : 2000))
  describe(`${scenario} on ${nodes} processes, with crashes, stalls, outages and lost answers`, () => {
    it.each([
      { which: 'seeds', of: seeds },
      { which: 'seeds that once violated one', of: onceFailed },
    ])(
      'keep all guarantees for $which $of',
      async ({ of }) => {
        expect(await runs.brokenBy(of)).toEqual([])
      },
      timeoutMs,
    )

    it(
      'have the same trace for the same seed, byte for byte',
      async () => {
        for (const seed of seeds.slice(0, repeated)) {
          const { trace } = await runs.of(seed)
          expect((await runs.again(seed)).trace.join('\n')).toBe(trace.join('\n'))
          expect(trace.length).toBeGreaterThan(20)
        }
      },
      timeoutMs,
    )
  })
  return runs
}

/** Declares that a scenario violates nothing without faults. */
export const faultlessSuite = (scenario: Scenario): void =>
  it(
    `${scenario} violate nothing and restart no process without faults`,
    async () => {
      for (const seed of upTo(atNight ? 10 : 3)) {
        const { violations, trace, processes } = await simulate(seed, { faults: noFaults, scenario })
        expect(violations).toEqual([])
        // a restart interrupts some runs
        expect(processes).toBeLessThanOrEqual(2)
        const calm = trace.slice(0, trace.findIndex((line) => line.endsWith('eight days pass')) >>> 0)
        expect(calm.filter((line) => / (unanswered|refused)$/.test(line))).toEqual([])
      }
    },
    timeoutMs,
  )
