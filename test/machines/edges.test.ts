import { afterAll, describe, expect, it } from 'vitest'
import { charts } from '#actors/capabilities.ts'
import { coverageOf } from './edges.ts'
import { walks } from './walks.ts'

/** Minimum part of each machine's transitions that the walks have to take. */
const minCoverage = 0.95

/** Transitions and results of guards that no event can cause, with the reason. */
const impossible: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  connection: { 'postponed: refused [isLossOfThis] → expired': 'only a grant that can be refreshed is postponed' },
}

const covered = charts.map(({ name, machine }) => {
  const own = walks.filter(([, walk]) => walk.machine === machine).map(([, walk]) => walk)
  return { name, ...coverageOf(machine, own) }
})

describe.each(covered)('the walks through $name', ({ name, states, entered, edges, taken, guards }) => {
  const excused = Object.keys(impossible[name] ?? {})

  it('enter every state', () => {
    expect(states.filter((path) => !entered.has(path))).toEqual([])
  })

  it('take every transition', () => {
    expect(edges.map((edge) => edge.name).filter((edge) => !taken.has(edge) && !excused.includes(edge))).toEqual([])
    expect(taken.size).toBeGreaterThanOrEqual(edges.length * minCoverage)
  })

  it('make every guard hold and fail', () => {
    const oneSided = [...guards].flatMap(([guard, results]) =>
      [true, false].filter((result) => !results.has(result)).map((result) => `${guard} is ${result}`),
    )
    expect(oneSided.filter((each) => !excused.includes(each))).toEqual([])
  })

  it('do not take what is declared impossible', () => {
    const oneSided = [...guards].flatMap(([guard, results]) => [...results].map((result) => `${guard} is ${result}`))
    expect(excused.filter((each) => taken.has(each) || oneSided.includes(each))).toEqual([])
  })
})

afterAll(() => {
  const lines = covered.map(({ name, edges, taken, guards }) => {
    const both = [...guards.values()].filter((results) => results.size === 2).length
    const percent = ((100 * taken.size) / edges.length).toFixed(0)
    return `${name}: ${taken.size} of ${edges.length} transitions (${percent} %), both results of ${both} of ${guards.size} guards`
  })
  process.stdout.write(`${lines.join('\n')}\n`)
})
