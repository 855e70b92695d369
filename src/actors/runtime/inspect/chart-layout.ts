import type { ELK, ElkExtendedEdge, ElkLabel, ElkNode } from 'elkjs/lib/elk.bundled.js'
import type { Chart } from '#machines/definition.ts'
import { type ChartGraph, type ChartState, type ChartTransition, chartGraph } from './chart-graph.ts'

/** A box in pixels from the chart's upper left corner. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

/** Layout that the console draws; regions come before the states in them. */
export interface ChartLayout {
  readonly machine: string
  readonly version: number
  readonly width: number
  readonly height: number
  readonly nodes: readonly (Box & Pick<ChartState, 'id' | 'label' | 'kind'>)[]
  readonly edges: readonly {
    readonly from: string
    readonly to: string
    readonly points: readonly (readonly [x: number, y: number])[]
    readonly labels: readonly (Box & { readonly text: string })[]
    readonly details: readonly string[]
  }[]
}

/** Character width of the console's monospaced font, in pixels. */
const charWidth = 6.7
const labelHeight = 15
const stateHeight = 32

const options: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  // breaks cycles so that charts run downwards from each region's first state
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.layered.spacing.nodeNodeBetweenLayers': '22',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
  'elk.spacing.nodeNode': '18',
  'elk.spacing.edgeNode': '10',
  'elk.spacing.edgeEdge': '9',
  'elk.spacing.edgeLabel': '3',
}

const uncompacted = { 'elk.layered.compaction.postCompaction.strategy': 'NONE' }

/** Random seeds for layouts that differ only in their crossings; the best layout is used. */
const seeds = [1, 2, 3, 5, 7, 11, 13, 17]

/** Lays out a machine's chart. The result is deterministic. */
export async function chartLayout({ name, version, machine }: Chart): Promise<ChartLayout> {
  const graph = chartGraph(machine)
  // over a megabyte, and only pictures need it
  const { default: elk } = await import('elkjs/lib/elk.bundled.js')
  const layouts: ChartLayout[] = []
  for (const seed of seeds) layouts.push({ machine: name, version, ...(await laidOut(new elk.default(), graph, seed)) })
  const [best] = layouts.sort((left, right) => cost(left) - cost(right))
  if (best === undefined) throw new Error('no seed')
  return best
}

/**
 * Cost of a layout: its area, plus 20 px² for each px of line. Small charts with short lines are the easiest to read.
 */
const cost = ({ width, height, edges }: ChartLayout): number =>
  width * height + 20 * edges.reduce((sum, { points }) => sum + lengthOf(points), 0)

const lengthOf = (points: ChartLayout['edges'][number]['points']): number =>
  points.reduce((sum, [x, y], index) => {
    const [x0, y0] = points[index - 1] ?? [x, y]
    return sum + Math.abs(x - x0) + Math.abs(y - y0)
  }, 0)

async function laidOut(
  elk: Pick<ELK, 'layout'>,
  { states, transitions }: ChartGraph,
  seed: number,
): Promise<Omit<ChartLayout, 'machine' | 'version'>> {
  const chart = (more: Readonly<Record<string, string>>): ElkNode => ({
    id: '',
    layoutOptions: {
      ...options,
      'elk.padding': '[top=8,left=8,bottom=8,right=8]',
      'elk.randomSeed': `${seed}`,
      ...more,
    },
    children: states.map((state) => elkNode(state, more)),
    edges: transitions.map(elkEdge),
  })
  const layout = (more: Readonly<Record<string, string>>): Promise<ElkNode> => elk.layout(chart(more))
  // ELK's compaction fails on some charts ("Invalid hitboxes"), which are laid out without it
  const laid = await layout({}).catch(() => layout(uncompacted))
  const byId = new Map(allStates(states).map((state) => [state.id, state]))
  return {
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    nodes: (laid.children ?? []).flatMap(allElkNodes).map((node) => {
      const { label = '', kind = 'state' } = byId.get(node.id) ?? {}
      return { id: node.id, label, kind, ...boxOf(node) }
    }),
    edges: (laid.edges ?? []).map((edge, index) => laidEdge(edge, transitions[index])),
  }
}

const allStates = (states: readonly ChartState[]): readonly ChartState[] =>
  states.flatMap((state) => [state, ...allStates(state.states)])

const allElkNodes = (node: ElkNode): readonly ElkNode[] => [node, ...(node.children ?? []).flatMap(allElkNodes)]

function elkNode(state: ChartState, more: Readonly<Record<string, string>>): ElkNode {
  if (state.kind === 'initial') return { id: state.id, width: 8, height: 8 }
  const width = Math.ceil(state.label.length * charWidth + 28)
  if (state.states.length === 0) return { id: state.id, width, height: stateHeight }
  return {
    id: state.id,
    layoutOptions: { ...options, 'elk.padding': '[top=34,left=16,bottom=16,right=16]', ...more },
    children: state.states.map((inner) => elkNode(inner, more)),
  }
}

const elkEdge = ({ from, to, labels }: ChartTransition, index: number): ElkExtendedEdge => ({
  id: `${index}`,
  sources: [from],
  targets: [to],
  labels: labels.length === 0 ? [] : [{ text: labels.join('\n'), ...sizeOfText(labels) }],
})

const sizeOfText = (lines: readonly string[]) => ({
  width: Math.ceil(Math.max(...lines.map((line) => line.length)) * charWidth),
  height: lines.length * labelHeight,
})

const boxOf = (shape: ElkNode | ElkLabel): Box => ({
  x: Math.round(shape.x ?? 0),
  y: Math.round(shape.y ?? 0),
  w: Math.round(shape.width ?? 0),
  h: Math.round(shape.height ?? 0),
})

function laidEdge(edge: ElkExtendedEdge, transition: ChartTransition | undefined): ChartLayout['edges'][number] {
  const points = (edge.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }) => [Math.round(x), Math.round(y)] as const),
  )
  return {
    from: transition?.from ?? '',
    to: transition?.to ?? '',
    points,
    labels: (edge.labels ?? []).map((label) => ({ text: label.text ?? '', ...boxOf(label) })),
    details: transition?.details ?? [],
  }
}
