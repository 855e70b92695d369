import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, createMachine, type StateNode } from 'xstate'
import { charts } from '#actors/capabilities.ts'
import { chartGraph } from '#runtime/inspect/chart-graph.ts'
import { machineJsonFile } from '#scripts/generate/machine-json.ts'

const nodesOf = (node: StateNode): readonly StateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)]

/** Entry and exit actions, tags and kinds of all states, without XState's own actions for delays. */
const parts = (machine: AnyStateMachine) =>
  nodesOf(machine.root).map(({ id, type, tags, config }) => {
    const names = (actions: unknown): readonly unknown[] =>
      [actions ?? []].flat().map((action) => (typeof action === 'string' ? action : Object(action).type))
    return { id, type, tags, entry: names(config.entry), exit: names(config.exit) }
  })

describe.each(charts.map((chart) => [chart.name, chart] as const))('the JSON of %s', (name, chart) => {
  const { path } = machineJsonFile(chart)
  const text = readFileSync(resolve(import.meta.dirname, '../../..', path), 'utf8')

  it('is an XState config from which createMachine makes the same states and transitions', () => {
    const read = createMachine(JSON.parse(text))
    expect(chartGraph(read).transitions).toEqual(chartGraph(chart.machine).transitions)
    expect(parts(read)).toEqual(parts(chart.machine))
    expect(text).toContain(`"id": "${chart.machine.id}"`)
  })

  it('names every guard, action and delay that the machine implements', () => {
    const { guards, actions, delays } = chart.machine.implementations
    const used = [...Object.keys(guards), ...Object.keys(delays)].filter((each) => !text.includes(`"${each}"`))
    expect(used, `${name} declares guards or delays that no state uses`).toEqual([])
    const named = [...text.matchAll(/"type": "([a-zA-Z]+)"/g)].map(([, action]) => action ?? '')
    const kinds = ['final', 'parallel']
    expect(named.filter((each) => !(each in actions) && !kinds.includes(each))).toEqual([])
  })
})
