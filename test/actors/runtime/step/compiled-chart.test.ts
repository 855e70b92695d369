import { expect, it } from 'vitest'
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createMachine,
  enqueueActions,
  initialTransition,
  transition,
} from 'xstate'
import { definitions } from '#actors/capabilities.ts'
import type { ListedAction } from '#runtime/schema.ts'
import { compiledChart } from '#runtime/step/compiled-chart.ts'
import { pureInitial, pureTransition } from '#runtime/step/pure-transition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import type { Walk } from '#test/machines/reached.ts'
import { walks } from '#test/machines/walks.ts'

const said = (next: AnyMachineSnapshot, actions: readonly ListedAction[]): string => {
  const { value, context, status, tags } = next
  const listed = actions.map(({ type, params }) => ({ type, params }))
  return JSON.stringify({
    value,
    context,
    status,
    tags: [...tags],
    meta: Object.entries(next.getMeta()).toSorted(),
    listed,
  })
}

/** Numbers below a bound, the same in each run. */
const numbers = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type FuzzedWalk = Pick<Walk, 'machine' | 'input' | 'events'>

/** Compares both on the same random events; each step begins where the compiled one ended. */
const compareOn = (
  { machine, input, events }: FuzzedWalk,
  steps: number,
  random: (below: number) => number,
): number => {
  let taken = 0
  const [first, firstActions] = pureInitial(machine, input)
  expect(said(first, firstActions)).toBe(said(...initialTransition(machine, input)))
  let snapshot = first
  for (let step = 0; step < steps && snapshot.status === 'active'; step++) {
    const event = events[random(events.length)] ?? { type: 'none' }
    const [plain, listed] = transition(machine, snapshot, event)
    const [next, actions] = pureTransition(machine, snapshot, event)
    expect(said(next, actions)).toBe(said(plain, listed))
    expect(next === snapshot).toBe(plain === snapshot)
    if (next !== snapshot) taken += 1
    snapshot = next
  }
  return taken
}

it('compiles the chart of every machine', () => {
  expect(definitions.filter(({ machine }) => compiledChart(machine) === undefined).map(({ name }) => name)).toEqual([])
})

it.each(walks)('takes the steps of the plain transition on random walks through %s', (_, walk) => {
  const random = numbers(7)
  for (let round = 0; round < 20; round++) compareOn(walk, 15, random)
})

const letters = ['a', 'b', 'c'] as const
const maxLevels = 3

interface Chart {
  readonly [field: string]: string | boolean | null | number | Chart | readonly (string | Chart)[]
}

/** Paths of nested states, such as `a.b.a`. */
const randomPaths = (random: (below: number) => number, outer = '', level = 1): readonly string[] =>
  letters.slice(0, 1 + random(3)).flatMap((letter) => {
    const path = `${outer}${letter}`
    return [path, ...(level < maxLevels && random(2) === 0 ? randomPaths(random, `${path}.`, level + 1) : [])]
  })

/** A random chart: transitions inwards, outwards and across, guarded, eventless, delayed, with actions that raise. */
const randomChart = (random: (below: number) => number): Chart => {
  const paths = randomPaths(random)
  const often = (times: number, chart: Chart): Chart => (random(times) === 0 ? chart : {})
  const target = (): Chart => ({ target: `#m.${paths[random(paths.length)]}` })
  const transitionOf = (path: string): Chart => ({
    ...(random(5) > 0 && { ...target(), ...often(4, { reenter: true }) }),
    ...often(2, { guard: { type: 'divides', params: { by: 2 + random(3) } } }),
    actions: [{ type: 'note', params: { at: path } }, ...['count', 'several'].filter(() => random(3) === 0)],
  })
  const statesIn = (outer: string): Chart => {
    const inner = paths.filter((path) => path.startsWith(outer) && !path.slice(outer.length).includes('.'))
    return Object.fromEntries(inner.map((path) => [path.slice(outer.length), stateOf(path)]))
  }
  const stateOf = (path: string): Chart => {
    const states = statesIn(`${path}.`)
    const types = ['x', 'y', 'raised'].filter(() => random(2) === 0)
    return {
      ...('a' in states && { initial: 'a', states }),
      tags: [path],
      entry: [{ type: 'note', params: { into: path } }, ...['count', 'several'].filter(() => random(4) === 0)],
      exit: [{ type: 'note', params: { out: path } }, ...['count'].filter(() => random(4) === 0)],
      on: Object.fromEntries(types.map((type) => [type, [transitionOf(path), transitionOf(path)]])),
      ...often(3, {
        always: [{ ...target(), guard: 'fifth', actions: ['count', { type: 'note', params: { at: path } }] }],
      }),
      ...often(4, { after: { 1000: transitionOf(path) } }),
    }
  }
  const end = { type: 'final', entry: ['several'], exit: [{ type: 'note', params: { out: 'end' } }, 'count'] }
  return {
    id: 'm',
    context: { n: 0 },
    initial: 'a',
    states: { ...statesIn(''), end },
    entry: [{ type: 'note', params: { into: 'm' } }],
    exit: ['count'],
    on: { end: '.end', again: { target: '.a', reenter: true }, back: '.a' },
  }
}

const machineOf = (chart: Chart): AnyStateMachine =>
  createMachine(JSON.parse(JSON.stringify(chart))).provide({
    guards: {
      divides: ({ context }, params) => context.n % Number(Object(params).by) === 0,
      fifth: ({ context }) => context.n % 5 === 4,
    },
    actions: {
      note: () => {},
      count: assign({ n: ({ context }) => context.n + 1 }),
      several: enqueueActions(({ context, enqueue, check }) => {
        enqueue({ type: 'note', params: { n: context.n } })
        if (check('fifth')) enqueue.assign({ n: 100 })
        if (context.n % 7 !== 0) return
        enqueue('count')
        enqueue.raise({ type: 'raised' })
      }),
    },
  })

const eventsOf = ({ root }: AnyStateMachine): readonly StoredEvent[] => {
  const typesIn = (node: AnyStateMachine['root']): readonly string[] => [
    ...node.transitions.keys(),
    ...Object.values(node.states).flatMap(typesIn),
  ]
  return [...new Set([...typesIn(root), 'unknown'])].map((type) => ({ type }))
}

it('takes the steps of the plain transition through random charts', () => {
  let taken = 0
  for (let seed = 1; seed <= 150; seed++) {
    const random = numbers(seed)
    const machine = machineOf(randomChart(random))
    expect(compiledChart(machine)).toBeDefined()
    // after `end` a chart accepts nothing, so it comes seldom
    const all = eventsOf(machine)
    const events = [...all, ...Array(3).fill(all.filter(({ type }) => type !== 'end'))].flat()
    for (let round = 0; round < 3; round++) taken += compareOn({ machine, input: {}, events }, 40, random)
  }
  expect(taken).toBeGreaterThan(1_000)
})

it.each([
  ['parallel states', { type: 'parallel', states: { a: {}, b: {} } }],
  ['history', { initial: 'a', states: { a: {}, b: { type: 'history' } } }],
  ['nested final states', { initial: 'a', states: { a: { initial: 'b', states: { b: { type: 'final' } } } } }],
  ['wildcards', { initial: 'a', states: { a: { on: { '*': 'b' } }, b: {} } }],
  ['output', { initial: 'a', states: { a: {} }, output: 1 }],
  ['invocations', { initial: 'a', states: { a: { invoke: { src: 'work' } } } }],
])('leaves charts with %s to XState', (_, chart) => {
  expect(compiledChart(createMachine(JSON.parse(JSON.stringify(chart))))).toBeUndefined()
})
