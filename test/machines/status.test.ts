import { describe, expect, expectTypeOf, it } from 'vitest'
import { setup } from 'xstate'
import { actorRows, charts, definitions } from '#actors/capabilities.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { isBusy, isGone, leavesOf, type StatusRule, statusOf } from '#machines/status.ts'
import { type ChartState, chartGraph } from '#runtime/inspect/chart-graph.ts'
import { mermaidFile } from '#scripts/generate/mermaid.ts'
import { restingStates } from './outcome.ts'
import { reachedIn } from './reached.ts'
import { walks } from './walks.ts'

const withStatuses = definitions.flatMap(({ name, machine, statuses }) =>
  statuses === undefined ? [] : [[name, { machine, statuses }] as const],
)

/** Every value that a rule may yield; null where the resource is gone. */
const valuesOf = (rule: StatusRule): readonly (string | null | undefined)[] =>
  typeof rule === 'object' && rule !== null ? rule.oneOf : [rule]

describe('the statuses of the API', () => {
  it('belong to every machine whose actors are in lists, and to no other', () => {
    expect(withStatuses.map(([name]) => name).sort()).toEqual(Object.keys(actorRows).sort())
  })

  it.each(withStatuses)('are declared for every state in which an actor can rest: %s', (_, { machine, statuses }) => {
    const leaves = leavesOf(machine)
    const wrong = restingStates(machine).filter((path) =>
      valuesOf(leaves.get(path)?.status).some((value) => value !== null && !statuses.some((each) => each === value)),
    )
    expect(wrong).toEqual([])
  })

  it.each(withStatuses)('are each shown in some state: %s', (_, { machine, statuses }) => {
    const shown = [...leavesOf(machine).values()].flatMap(({ status }) => valuesOf(status))
    expect(statuses.filter((status) => !shown.includes(status))).toEqual([])
  })

  it.each(withStatuses)('hide an actor in final states, and else only where null is declared: %s', (_, definition) => {
    const reached = walks
      .filter(([, { machine }]) => machine === definition.machine)
      .flatMap(([, walk]) => reachedIn(walk))
    for (const state of reached) {
      const status = statusOf(definition, state)
      expect(status === null).toBe(isGone(definition, state))
      if (state.status === 'done') expect(status).toBeNull()
    }
    const hidden = [...leavesOf(definition.machine)].filter(([, { status }]) => status === null).map(([path]) => path)
    expect(hidden).toHaveLength(1)
  })

  it('are derived from the context only with a reason', () => {
    const derived = withStatuses.flatMap(([name, { machine }]) =>
      [...leavesOf(machine)].flatMap(([path, { status }]) =>
        typeof status === 'object' && status !== null ? [[`${name}.${path}`, status.because.length > 20]] : [],
      ),
    )
    expect(Object.fromEntries(derived)).toEqual({
      'connection.exchanging': true,
      'connection.postponed': true,
      'response.settled': true,
    })
  })
})

describe('the charts', () => {
  const labels = (states: readonly ChartState[]): readonly (readonly [string, string])[] =>
    states.flatMap((state) => [[state.id, state.label] as const, ...labels(state.states)])

  it.each(charts.filter(({ name }) => name in actorRows).map((chart) => [chart.name, chart] as const))(
    'show the statuses of the API: %s',
    (_, chart) => {
      const shown = new Map(labels(chartGraph(chart.machine).states))
      const { text } = mermaidFile(chart)
      for (const [path, { status }] of leavesOf(chart.machine)) {
        if (status === undefined || status === null) continue
        const words = path.split('.').flatMap((_part, index, parts) => {
          const id = parts.slice(0, index + 1).join('.')
          return [shown.get(id) ?? '']
        })
        const shownWords = words.flatMap((label) => label.split(/[ ()]+/))
        for (const value of valuesOf(status)) expect(shownWords, `${path} shows ${value}`).toContain(value)
        for (const label of words) expect(text).toContain(`"${label}"`)
      }
    },
  )
})

describe('statusOf', () => {
  it('has the type of the declared statuses', () => {
    const status = statusOf(browserJobDefinition, { value: { open: 'waiting' }, context: {} })
    expectTypeOf(status).toEqualTypeOf<'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | null>()
    expect(status).toBe('running')
  })

  const machine = setup({}).createMachine({
    id: 'sample',
    type: 'parallel',
    states: {
      left: { initial: 'a', states: { a: { meta: { status: 'open' } }, b: {} } },
      right: { initial: 'c', states: { c: { tags: 'busy' }, d: {} } },
    },
  })

  it('does not guess the status of a state that declares none', () => {
    const state = { value: { left: 'b', right: 'd' }, context: {} }
    expect(() => statusOf({ machine, statuses: ['open'] }, state)).toThrow('sample has no status')
    expect(isGone({ machine, statuses: ['open'] }, state)).toBe(false)
  })

  it('finds the status and the tag of a machine with parallel regions in any of them', () => {
    const state = { value: { left: 'a', right: 'c' }, context: {} }
    expect(statusOf({ machine, statuses: ['open'] }, state)).toBe('open')
    expect(isBusy({ machine }, state)).toBe(true)
    expect(isBusy({ machine }, { value: { left: 'a', right: 'd' } })).toBe(false)
  })
})
