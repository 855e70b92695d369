import { expect, it } from 'vitest'
import { exactTotal } from '#storage/totals.ts'
import { atNight, drawnOf } from '#test/setup/at-night.ts'
import { type SimulationOptions, type SimulationResult, simulate } from './simulation.ts'
import { noFaults } from './world/faults.ts'
import { noWaits, quantile, type Waits } from './world/waits.ts'

const timeoutMs = 1_800_000
/** Sessions at rest, few and many. */
const [few, many] = [10_000, 10_000_000]
const upgrades: readonly (readonly [nodes: number, seeds: number])[] = atNight
  ? [
      [5, 40],
      [20, 10],
      [100, 1],
    ]
  : [[5, 1]]
const loads: typeof upgrades = atNight
  ? [
      [5, 3],
      [20, 1],
    ]
  : // the waits of three together: of one, three answers of 240 decide what 99 of 100 take
    [[5, 3]]
/** What an upgrade costs, and what a turn does: by day each in one of four runs, beside an upgrade with kills in all. */
const measured = drawnOf(['upgrades', 'turns'], 4)
const rounded = (value: number): number => Math.round(value * 100) / 100

type Upgrade = SimulationResult['upgrade']

/** Waits of the same kind in all these upgrades, by when they began. */
const waitsIn = (upgrades: readonly Upgrade[], kind: keyof Waits) => {
  const all = (phase: 'before' | 'during') => upgrades.flatMap(({ waits }) => waits[phase][kind])
  const p99 = { before: quantile(all('before'), 0.99), during: quantile(all('during'), 0.99) }
  return { ...p99, counted: [all('before').length, all('during').length] }
}

const kinds = Object.keys(noWaits())
const isKind = (kind: string): kind is keyof Waits => kinds.includes(kind)
const shown = (upgrades: readonly Upgrade[]): string =>
  JSON.stringify(Object.fromEntries(kinds.filter(isKind).map((kind) => [kind, waitsIn(upgrades, kind)])))

/** Every second run has no sessions at rest, and goes on until all that it has made expires. */
it.each(upgrades)(
  'a rolling upgrade of %i processes beside ten million sessions with kills and partitions loses nothing, doubles nothing and overloads none',
  async (nodes, seeds) => {
    const upgrades: Upgrade[] = []
    for (let seed = 1; seed <= seeds; seed++) {
      const options = { nodes, upgrade: true, ...(seed % 2 === 1 && { resting: many }) }
      const { violations, upgrade, traffic } = await simulate(seed, options)
      console.info(`seed ${seed}, ${nodes} processes: ${JSON.stringify(costOfUpgrade({ upgrade, traffic }))}`)
      expect(violations, `seed ${seed}`).toEqual([])
      expect(upgrade.newer).toBeGreaterThan(0)
      expect(upgrade.fullest).toBeLessThanOrEqual(1.5)
      upgrades.push(upgrade)
    }
    console.info(`p99 in ms with kills, ${nodes} processes: ${shown(upgrades)}`)
  },
  timeoutMs,
)

it.skipIf(!measured.includes('upgrades')).each(loads)(
  'a rolling upgrade of %i processes under load waits at most twice as long as before, and reads as much beside ten million sessions as beside ten thousand',
  async (nodes, seeds) => {
    const upgrades: Upgrade[] = []
    for (let seed = 1; seed <= seeds; seed++) {
      const calmMs = atNight ? 40_000 : 15_000
      const run = async (resting: number) => {
        const options = { nodes, upgrade: true, faults: noFaults, calmMs, groupMs: 1500, resting }
        const { violations, ...result } = await simulate(seed, options)
        expect(violations).toEqual([])
        expect(result.upgrade.fullest).toBeLessThanOrEqual(1.5)
        upgrades.push(result.upgrade)
        return { ...costOfUpgrade(result), rows: result.traffic.rows }
      }
      const { rows: _, ...small } = await run(few)
      const { rows, ...large } = await run(many)
      console.info(`beside few: ${JSON.stringify(small)}; beside many: ${JSON.stringify(large)}`)
      expect(large.operations).toBeLessThan(small.operations * 1.25)
      expect(large.rowsOfATurn).toBeLessThan(small.rowsOfATurn * 1.25)
      expect(large.rowsOfATakeover).toBeLessThan(small.rowsOfATakeover * 1.5)
      // a page, and a total of a list
      const { total, ...others } = rows
      expect(Math.max(...Object.values(others).map(({ most }) => most))).toBeLessThanOrEqual(250)
      expect(total?.most).toBeLessThanOrEqual(exactTotal)
      // these read the whole store
      for (const name of ['ofProject', 'actorsOf', 'count']) expect(Object.keys(rows)).not.toContain(name)
    }
    console.info(`p99 in ms, ${nodes} processes: ${shown(upgrades)}`)
    for (const kind of ['acknowledged', 'answered'] as const) {
      const { before, during, counted } = waitsIn(upgrades, kind)
      expect(Math.min(...counted)).toBeGreaterThan(200)
      expect(during).toBeLessThanOrEqual(2 * before)
    }
  },
  timeoutMs,
)

const costOfUpgrade = ({ upgrade, traffic }: Pick<SimulationResult, 'upgrade' | 'traffic'>) => {
  const { turns, commits, operations, messages, taken } = traffic
  const { open, total, ...rows } = traffic.rows
  const read = Object.values(rows).reduce((sum, { all }) => sum + all, 0)
  return {
    ...{ turns, taken, fullest: rounded(upgrade.fullest), commits: rounded(commits / turns) },
    ...{ operations: rounded(operations / turns), messages: rounded(messages / turns) },
    ...{ rowsOfATurn: rounded(read / turns), rowsOfATakeover: rounded((open?.all ?? 0) / taken) },
  }
}

/** What a turn costs may not depend on the number of processes, apart from requests to the one that runs the session. */
it.skipIf(!measured.includes('turns')).each(atNight ? [[3, 100]] : [[3, 10]])(
  'a turn costs as many commits and operations on %i processes as on %i, beside ten million sessions at rest',
  async (nodes, moreNodes) => {
    const [small, large] = [await costOf(nodes, 0), await costOf(moreNodes, many)]
    console.info(`a turn on ${nodes} processes: ${JSON.stringify(small)}; on ${moreNodes}: ${JSON.stringify(large)}`)
    // each other commit is of an event whose number the seed draws: a turn has up to two tools, and text that is shown
    expect(large.moves).toBeLessThan(small.moves + 0.1)
    expect(large.operations).toBeLessThan(small.operations * 1.25)
    // a list is a request to every process
    expect(large.messages).toBeLessThan(small.messages * 2.5 + moreNodes)
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
