import { expect, it } from 'vitest'
import { atNight } from './scenario-suite.ts'
import { type SimulationOptions, simulate } from './simulation.ts'
import { noFaults } from './world/faults.ts'

const timeoutMs = 1_200_000
/** The last are a sample of the ten million sessions that an installation of that size may have: one at rest costs nothing. */
const upgrades: readonly (readonly [nodes: number, seeds: number, resting: number])[] = atNight
  ? [
      [5, 40, 200],
      [20, 10, 500],
      [100, 1, 2000],
    ]
  : [[5, 1, 200]]

it.each(upgrades)(
  'a rolling upgrade of %i processes with kills and partitions loses nothing, doubles nothing and overloads none',
  async (nodes, seeds, resting) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { violations, upgrade, turns } = await simulate(seed, { nodes, upgrade: true, resting })
      console.info(`seed ${seed}, ${nodes} nodes: ${turns} turns, at most ${upgrade.fullest.toFixed(2)} shares`)
      expect(violations, `seed ${seed}`).toEqual([])
      expect(upgrade.newer).toBeGreaterThan(0)
      expect(upgrade.fullest).toBeLessThanOrEqual(1.5)
    }
  },
  timeoutMs,
)

/** What a turn costs may not depend on the number of processes, apart from requests to the one that runs the session. */
it.each(atNight ? [[3, 100, 2000]] : [[3, 10, 500]])(
  'a turn costs as many commits and operations on %i processes as on %i, beside %i sessions at rest',
  async (few, many, resting) => {
    const [small, large] = [await costOf(few, 0), await costOf(many, resting)]
    console.info(`a turn on ${few} processes: ${JSON.stringify(small)}; on ${many}: ${JSON.stringify(large)}`)
    // each other commit is of an event whose number the seed draws: a turn has up to two tools, and text that is shown
    expect(large.moves).toBeLessThan(small.moves + 0.1)
    expect(large.operations).toBeLessThan(small.operations * 1.25)
    // a list is a request to every process
    expect(large.messages).toBeLessThan(small.messages * 2.5 + many)
    expect(large.idle).toBeLessThan(small.idle * 1.1)
    expect(large.leases).toBeLessThan(small.leases * 1.1)
  },
  timeoutMs,
)

/** Cost of a turn without faults, in addition to what each process does in a second without any work. */
const costOf = async (nodes: number, resting: number) => {
  const traffic = (groups: number, restMs: number) => trafficOf({ nodes, faults: noFaults, groups, restMs, resting })
  const [rest, busy] = [await traffic(0, 75_000), await traffic(10, 20_000)]
  const perSecond = (count: number): number => (count / nodes / rest.ms) * 1000
  const ofWork = (name: 'operations' | 'messages'): number => busy[name] - (rest[name] / rest.ms) * busy.ms
  const rounded = (value: number): number => Math.round(value * 100) / 100
  return {
    turns: busy.turns,
    commits: rounded(busy.commits / busy.turns),
    moves: rounded(busy.moves / busy.turns),
    operations: rounded(ofWork('operations') / busy.turns),
    messages: rounded(ofWork('messages') / busy.turns),
    ...{ idle: rounded(perSecond(rest.operations)), leases: rounded(perSecond(rest.leaseOperations)) },
  }
}

const trafficOf = async (options: SimulationOptions) => {
  const { violations, traffic } = await simulate(1, options)
  expect(violations).toEqual([])
  return traffic
}
