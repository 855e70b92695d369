import { arrowHead, type Drawing, edgePath, type LayoutEdge, type LayoutNode } from './chart-model.ts'

type Attributes = Record<string, string | number>

type Tag = 'g' | 'rect' | 'circle' | 'path' | 'polygon' | 'text' | 'title'

/**
 * Draws a machine's chart with elements of the DOM, of Preact, or of a text, whichever `make` makes.
 *
 * @returns `parts`: all of them, in the order in which they cover each other
 */
export const drawn = <E>(
  drawing: Drawing,
  {
    make,
    ofNode = () => ({}),
    ofEdge = () => ({}),
  }: {
    make: (tag: Tag, attributes: Attributes, ...children: (E | string)[]) => E
    /** what a state has besides its box and its label */
    ofNode?: (node: LayoutNode) => { attributes?: Attributes; more?: readonly E[]; around?: (state: E) => E }
    /** what an edge has besides its line; `about`: shown when it is pointed at */
    ofEdge?: (edge: LayoutEdge, index: number) => { name?: string; about?: string; more?: readonly E[] }
  },
): { nodes: ReadonlyMap<string, E>; edges: readonly E[]; parts: readonly E[] } => {
  const nodeOf = (node: LayoutNode) => {
    const { id, kind, x, y, w, h } = node
    if (kind === 'initial')
      return make('g', { class: 'mark' }, make('circle', { cx: x + w / 2, cy: y + h / 2, r: w / 2 }))
    const { attributes = {}, more = [], around = (state) => state } = ofNode(node)
    const box = { x: x + 0.5, y: y + 0.5, width: w - 1, height: h - 1, rx: kind === 'region' ? 10 : 7 }
    const label = labelLines(node).map(({ line, at }) => make('text', at, line))
    const given = { class: `state ${kind}`, 'data-state': id, 'data-standing': 'none', ...attributes }
    return around(make('g', given, make('rect', box), ...label, ...more))
  }
  const edgeOf = (edge: LayoutEdge, index: number) => {
    const { name = 'edge', about, more = [] } = ofEdge(edge, index)
    const [d, points] = [edgePath(edge.points), arrowHead(edge.points)]
    const pointed = about === undefined ? [] : [make('title', {}, about), make('path', { class: 'reach', d })]
    return make('g', { class: name }, ...pointed, make('path', { d }), make('polygon', { points }), ...more)
  }
  const nodes = drawing.nodes.map((node) => ({ ...node, element: nodeOf(node) }))
  const edges = drawing.edges.map(edgeOf)
  const [regions, states] = [true, false].map((isRegion) =>
    nodes.flatMap(({ kind, element }) => ((kind === 'region') === isRegion ? [element] : [])),
  )
  return {
    nodes: new Map(nodes.map(({ id, element }) => [id, element])),
    edges,
    parts: [...(regions ?? []), ...edges, ...(states ?? [])],
  }
}

/** The lines of a label: the status of a state has its own. */
const labelLines = ({ label, kind, x, y, w, h }: LayoutNode) => {
  if (kind === 'region') return [{ line: label, at: { x: x + 10, y: y + 17 } }]
  const lines = label.split(/ (?=\()/)
  const top = y + h / 2 + 4 - (lines.length - 1) * 7
  return lines.map((line, index) => ({ line, at: { x: x + w / 2, y: top + index * 14, 'text-anchor': 'middle' } }))
}
