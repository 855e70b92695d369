import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setup } from 'xstate'
import { charts } from '#actors/capabilities.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { chartGraph } from '#runtime/inspect/chart-graph.ts'
import { type Box, type ChartLayout, chartLayout } from '#runtime/inspect/chart-layout.ts'
import { chartPath } from '#scripts/generate/chart-files.ts'

const machine = setup({
  types: { events: {} as { type: 'go' | 'stay' | 'stop' | 'reset' } },
  guards: { ready: () => true },
  actions: { note: () => {} },
  delays: { patience: 1000 },
}).createMachine({
  id: 'sample',
  initial: 'open',
  on: { reset: '.open' },
  states: {
    open: {
      initial: 'first',
      states: {
        first: { on: { go: { guard: 'ready', target: 'second' }, stay: { actions: 'note' } } },
        second: { after: { patience: '#sample.closed' }, always: [{ guard: 'ready', target: 'first' }] },
      },
      on: { stop: 'closed', go: 'closed' },
    },
    closed: { type: 'final' },
  },
})

const inside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.w <= outer.x + outer.w &&
  inner.y + inner.h <= outer.y + outer.h

const apart = (left: Box, right: Box): boolean =>
  left.x + left.w <= right.x || right.x + right.w <= left.x || left.y + left.h <= right.y || right.y + right.h <= left.y

describe('chart graph', () => {
  it('has each state in its region and an initial mark for each region', () => {
    const { states } = chartGraph(machine)
    expect(states.map(({ id, kind }) => [id, kind])).toEqual([
      ['@initial', 'initial'],
      ['open', 'region'],
      ['closed', 'final'],
      ['@any', 'any'],
    ])
    expect(states[1]?.states.map(({ id }) => id)).toEqual(['open@initial', 'open.first', 'open.second'])
  })

  it('labels transitions by event, delay or guard, merges those between two states, and omits internal ones', () => {
    const { transitions } = chartGraph(machine)
    expect(transitions.filter(({ labels }) => labels.length > 0)).toEqual([
      { from: '@any', to: 'open', labels: ['reset'], details: ['reset'] },
      { from: 'open', to: 'closed', labels: ['stop', 'go'], details: ['stop', 'go'] },
      { from: 'open.first', to: 'open.second', labels: ['go'], details: ['go [ready]'] },
      { from: 'open.second', to: 'closed', labels: ['after patience'], details: ['after patience'] },
      { from: 'open.second', to: 'open.first', labels: ['ready'], details: ['[ready]'] },
    ])
  })
})

/** The stored layout of a machine. `npm run check` ensures that it matches the machine. */
const drawn = (machine: string): ChartLayout =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../..', chartPath(machine)), 'utf8'))

describe('a layout', () => {
  it('is deterministic', async () => {
    const definition = { ...sessionDefinition, name: 'sample', machine }
    expect(await chartLayout(definition)).toEqual(await chartLayout(definition))
  })
})

describe.each(charts.map((chart) => [chart.name, chart] as const))('layout of %s', (name, definition) => {
  it.each(['wide', 'narrow'] as const)(
    'gives every state a box inside its region that overlaps no sibling (%s)',
    (size) => {
      const layout = drawn(name)
      const { nodes, width, height } = size === 'wide' ? layout : layout.narrow
      const boxes = new Map(nodes.map((node) => [node.id, node]))
      const chart = { x: 0, y: 0, w: width, h: height }
      const regionOf = (id: string) => id.split(/\.?[^.@]+$|@.*$/)[0] ?? ''
      for (const node of nodes) {
        expect(inside(node, boxes.get(regionOf(node.id)) ?? chart), node.id).toBe(true)
        const neighbours = nodes.filter(({ id }) => id !== node.id && regionOf(id) === regionOf(node.id))
        for (const other of neighbours) expect(apart(node, other), `${node.id} and ${other.id}`).toBe(true)
      }
    },
  )

  it('has every transition; the names that it shows start with the first event, and cover no state', () => {
    const { transitions } = chartGraph(definition.machine)
    const { narrow, nodes, edges } = drawn(name)
    expect(edges.map(({ from, to }) => [from, to])).toEqual(transitions.map(({ from, to }) => [from, to]))
    const states = nodes.filter(({ kind }) => kind !== 'region')
    for (const [index, { points, labels }] of edges.entries()) {
      expect(points.length).toBeGreaterThan(1)
      expect(narrow.paths[index]?.length).toBeGreaterThan(1)
      for (const label of labels) {
        expect(label.text.startsWith(transitions[index]?.labels[0] ?? '')).toBe(true)
        expect(states.every((state) => apart(label, state))).toBe(true)
      }
    }
  })
})
