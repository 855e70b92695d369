import { describe, expect, it } from 'vitest'
import { atNight } from '#test/setup/at-night.ts'
import { type Scenario, type SimulationResult, shareOf, simulate } from './simulation.ts'
import { noFaults } from './world/faults.ts'

/** The subject of a file of seeds; each scenario has a separate file, so that all workers have some. */
export interface ScenarioSuite {
  readonly scenario: Scenario
  readonly nodes: number
  /** Every seed that ever violated a guarantee here. */
  readonly failed: readonly number[]
  /** How many seeds are run twice and compared byte by byte. */
  readonly repeated: number
}

/**
 * Seeds of all scenarios on one process, those that ever failed among them, since a seed is a random one again once the
 * draws have changed; half as many on several. `npm run nightly` runs 2,000 of each.
 */
const seedsInAll = 75
/** What a scenario runs at least besides the seeds that ever failed. */
const minFirst = 8
/** Seeds per test: a machine that is four times slower has time for them. */
const perTest = 50
const timeoutMs = 300_000

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

const slicesOf = (count: number) =>
  Array.from({ length: Math.ceil(count / perTest) }, (_, at) => ({
    from: at * perTest + 1,
    to: Math.min(count, (at + 1) * perTest),
  }))

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

  /** The patterns that neither the traces of earlier runs nor those of the first seeds contain. */
  async missing(signs: readonly RegExp[], seeds: number): Promise<readonly RegExp[]> {
    let left = signs
    for (const seed of new Set([...this.#results.keys(), ...upTo(seeds)])) {
      if (left.length === 0) break
      const trace = (await this.of(seed)).trace.join('\n')
      left = left.filter((sign) => !sign.test(trace))
    }
    return left
  }
}

/** Declares the tests of a scenario for every seed. @returns its runs, for further checks in a file. */
export const scenarioSuite = ({ scenario, nodes, failed, repeated }: ScenarioSuite): SeedRuns => {
  const runs = new SeedRuns({ scenario, nodes })
  const inAll = shareOf(scenario, nodes > 1 ? Math.ceil(seedsInAll / 2) : seedsInAll)
  const seeds = Math.max(inAll - failed.length, minFirst)
  describe(`${scenario} on ${nodes} processes, with crashes, stalls, outages and lost answers`, () => {
    it.each(slicesOf(seeds))(
      'keep all guarantees for seeds $from to $to',
      async ({ from, to }) => {
        expect(await runs.brokenBy(upTo(to).slice(from - 1))).toEqual([])
      },
      timeoutMs,
    )

    it(
      'keep all guarantees for every seed that ever violated one',
      async () => {
        expect(await runs.brokenBy(failed)).toEqual([])
      },
      timeoutMs,
    )

    it(
      'have the same trace for the same seed, byte for byte',
      async () => {
        for (const seed of upTo(repeated)) {
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
      for (const seed of upTo(atNight ? 10 : 5)) {
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
