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

/** One drawing of a chart; regions come before the states in them. */
interface ChartDrawing {
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

/** Layout that the console draws: for a wide screen, and for a phone. */
export interface ChartLayout extends ChartDrawing {
  readonly machine: string
  readonly version: number
  /** Its edges are the same, in the same order: only their points differ. */
  readonly narrow: Omit<ChartDrawing, 'edges'> & { readonly paths: readonly ChartDrawing['edges'][number]['points'][] }
}

/** Character width of the console's monospaced font, in pixels. */
const charWidth = 6.95
const labelHeight = 14

/** Space on the page for a chart: beside the history on a screen of 1440 px, and on a phone. */
const wideBox = { width: 750, height: 560 }
const narrowBox = { width: 364, height: 560 }

/** Scale below which the names at the edges are left out: text of 11.5 px would be smaller than 11 px. */
const minScale = 0.96

const options: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  // edges of a state share their ends, which takes half of the space
  'elk.layered.mergeEdges': 'true',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.layered.spacing.nodeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeNodeBetweenLayers': '9',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
  'elk.spacing.nodeNode': '10',
  'elk.spacing.edgeNode': '8',
  'elk.spacing.edgeEdge': '7',
  'elk.spacing.edgeLabel': '2',
}

const uncompacted = { 'elk.layered.compaction.postCompaction.strategy': 'NONE' }

type Options = Readonly<Record<string, string>>

const placements = ['BRANDES_KOEPF', 'NETWORK_SIMPLEX'].map((strategy) => ({
  'elk.layered.nodePlacement.strategy': strategy,
}))
const down = ['GREEDY', 'DEPTH_FIRST'].flatMap((strategy) =>
  ['1', '7'].map((seed) => ({
    'elk.direction': 'DOWN',
    'elk.layered.cycleBreaking.strategy': strategy,
    'elk.randomSeed': seed,
  })),
)
const right = { 'elk.direction': 'RIGHT', 'elk.layered.cycleBreaking.strategy': 'GREEDY', 'elk.randomSeed': '1' }

/** Ways to lay out a chart, which differ in their size and crossings; the one that fits best is used. */
const ways: readonly Options[] = placements.flatMap((placement) =>
  [...down, right].map((direction) => ({ ...placement, ...direction })),
)

/** Lays out a machine's chart. The result is deterministic. */
export async function chartLayout({ name, version, machine }: Chart): Promise<ChartLayout> {
  const graph = chartGraph(machine)
  // over a megabyte, and only pictures need it
  const { default: elk } = await import('elkjs/lib/elk.bundled.js')
  const drawn = async (named: boolean): Promise<readonly ChartDrawing[]> => {
    const all: ChartDrawing[] = []
    for (const way of ways) all.push(await laidOut(new elk.default(), graph, { way, named }))
    return all
  }
  const [named, plain] = [bestOf(await drawn(true), wideBox), await drawn(false)]
  const wide = scaleIn(named, wideBox) >= minScale ? named : bestOf(plain, wideBox)
  const { edges, ...narrow } = bestOf(plain, narrowBox)
  return { machine: name, version, ...wide, narrow: { ...narrow, paths: edges.map(({ points }) => points) } }
}

const scaleIn = ({ width, height }: Size, box: Size): number => Math.min(box.width / width, box.height / height)

type Size = Pick<ChartDrawing, 'width' | 'height'>

/** Scale from which a larger one is no better, so that short lines decide. */
const ample = 1.25

const bestOf = (drawings: readonly ChartDrawing[], box: Size): ChartDrawing => {
  const worth = (each: ChartDrawing): number => Math.min(ample, scaleIn(each, box)) - lineLength(each) / 1e6
  const [best] = drawings.toSorted((left, right) => worth(right) - worth(left))
  if (best === undefined) throw new Error('no layout')
  return best
}

const lineLength = ({ edges }: ChartDrawing): number => edges.reduce((sum, { points }) => sum + lengthOf(points), 0)

const lengthOf = (points: ChartDrawing['edges'][number]['points']): number =>
  points.reduce((sum, [x, y], index) => {
    const [x0, y0] = points[index - 1] ?? [x, y]
    return sum + Math.abs(x - x0) + Math.abs(y - y0)
  }, 0)

async function laidOut(
  elk: Pick<ELK, 'layout'>,
  { states, transitions }: ChartGraph,
  { way, named }: { readonly way: Options; readonly named: boolean },
): Promise<ChartDrawing> {
  const chart = (more: Options): ElkNode => ({
    id: '',
    layoutOptions: { ...options, ...way, 'elk.padding': '[top=6,left=6,bottom=6,right=6]', ...more },
    children: states.map((state) => elkNode(state, { ...way, ...more })),
    edges: transitions.map((transition, index) => elkEdge(transition, index, named)),
  })
  const layout = (more: Options): Promise<ElkNode> => elk.layout(chart(more))
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

/** A state's label in lines: its status has a line of its own. */
const linesOf = (label: string): readonly string[] => label.split(/ (?=\()/)

function elkNode(state: ChartState, more: Options): ElkNode {
  if (state.kind === 'initial') return { id: state.id, width: 8, height: 8 }
  const lines = linesOf(state.label)
  const width = (text: string): number => Math.ceil(text.length * charWidth + 14)
  if (state.states.length === 0)
    return { id: state.id, width: Math.max(...lines.map(width)), height: lines.length > 1 ? 38 : 26 }
  return {
    id: state.id,
    layoutOptions: {
      ...options,
      'elk.padding': '[top=25,left=10,bottom=10,right=10]',
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width(state.label)}, 20)`,
      ...more,
    },
    children: state.states.map((inner) => elkNode(inner, more)),
  }
}

function elkEdge({ from, to, labels }: ChartTransition, index: number, named: boolean): ElkExtendedEdge {
  const [first, ...others] = named ? labels : []
  const text = others.length === 0 ? (first ?? '') : `${first} +${others.length}`
  const size = { width: Math.ceil(text.length * charWidth), height: labelHeight }
  return { id: `${index}`, sources: [from], targets: [to], labels: text === '' ? [] : [{ text, ...size }] }
}

const boxOf = (shape: ElkNode | ElkLabel): Box => ({
  x: Math.round(shape.x ?? 0),
  y: Math.round(shape.y ?? 0),
  w: Math.round(shape.width ?? 0),
  h: Math.round(shape.height ?? 0),
})

function laidEdge(edge: ElkExtendedEdge, transition: ChartTransition | undefined): ChartDrawing['edges'][number] {
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
