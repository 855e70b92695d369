type Box = Readonly<{ x: number; y: number; w: number; h: number }>

export type LayoutNode = Box & {
  readonly id: string
  readonly label: string
  readonly kind: 'state' | 'region' | 'final' | 'initial' | 'any'
}

export type Points = readonly (readonly [x: number, y: number])[]

export interface LayoutEdge {
  readonly from: string
  readonly to: string
  readonly points: Points
  readonly labels: readonly (Box & { readonly text: string })[]
  readonly details: readonly string[]
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly nodes: readonly LayoutNode[]
  readonly edges: readonly LayoutEdge[]
}

/** `narrow`: its paths are those of the edges */
export type Layout = Drawing & {
  readonly machine: string
  readonly version: number
  readonly narrow: Omit<Drawing, 'edges'> & { readonly paths: readonly Points[] }
}

/**
 * `current`: the actor is in this state and in none nested in it. `within`: it is in a nested state. `touched`: the
 * last transition entered or left this state.
 */
type NodeMark = Readonly<{ standing: 'current' | 'within' | 'none'; touched: boolean }>

type ChartMarks = Readonly<{ nodes: ReadonlyMap<string, NodeMark>; edges: ReadonlySet<number> }>

/** The drawing of a chart for a phone, or for a wide screen. */
export const drawingOf = (layout: Layout, narrow: boolean): Drawing => {
  if (!narrow) return layout
  const { paths, ...drawing } = layout.narrow
  return { ...drawing, edges: layout.edges.map((edge, index) => ({ ...edge, points: paths[index] ?? [], labels: [] })) }
}

/**
 * Computes the highlights of a chart.
 *
 * @param active dotted paths of every active state
 * @param before those before the last transition; null when none was seen
 * @returns marks of every state, and the indexes of the edges that the transition took
 */
export const chartMarks = (
  layout: Drawing,
  active: readonly string[],
  before: readonly string[] | null,
): ChartMarks => {
  const [left, entered] = before === null ? [[], []] : changeOf(active, before)
  const touched = new Set([...entered, ...left])
  const nodes = layout.nodes.map(({ id }) => {
    const mark: NodeMark = { standing: standingOf(id, active), touched: touched.has(id) }
    return [id, mark] as const
  })
  return { nodes: new Map(nodes), edges: edgesTaken(layout, left, entered) }
}

/** @returns the states that were left, and those that were entered */
const changeOf = (
  active: readonly string[],
  before: readonly string[],
): readonly [readonly string[], readonly string[]] => [
  before.filter((id) => !active.includes(id)),
  active.filter((id) => !before.includes(id)),
]

const standingOf = (id: string, active: readonly string[]): NodeMark['standing'] => {
  if (!active.includes(id)) return 'none'
  return active.some((other) => other.startsWith(`${id}.`)) ? 'within' : 'current'
}

/**
 * The edges from the states that were left to those that were entered: one edge, or two through a transient state.
 * Starts from the innermost state that has such a path.
 */
const edgesTaken = (
  { edges }: Pick<Drawing, 'edges'>,
  left: readonly string[],
  entered: readonly string[],
): ReadonlySet<number> => {
  const sources = entered.length === 0 ? [] : [...left].sort((a, b) => b.length - a.length)
  for (const from of [...sources, '@any']) {
    const direct = edges.findIndex((edge) => edge.from === from && entered.includes(edge.to))
    if (direct >= 0) return new Set([direct])
  }
  for (const from of sources) {
    for (const [first, { from: source, to: passed }] of edges.entries()) {
      if (source !== from) continue
      const second = edges.findIndex((edge) => edge.from === passed && entered.includes(edge.to))
      if (second >= 0) return new Set([first, second])
    }
  }
  return new Set()
}

/**
 * The edges that an actor took on its way.
 *
 * @param states the active states, one after the other
 * @returns indexes of edges
 */
export const edgesWalked = (layout: Drawing, states: readonly (readonly string[])[]): ReadonlySet<number> => {
  // an actor repeats the same transitions, so each is computed once
  const moves = new Map(
    states.slice(1).map((active, index) => [`${states[index]} ${active}`, { before: states[index] ?? [], active }]),
  )
  return new Set(
    [...moves.values()].flatMap(({ before, active }) => [...edgesTaken(layout, ...changeOf(active, before))]),
  )
}

/**
 * The edges that a step took, each with what it was named for: its event with the guard, and the guard of each
 * transient state that it passed.
 */
export const wayOf = (
  layout: Pick<Drawing, 'edges'>,
  { active, before, event }: { active: readonly string[]; before: readonly string[]; event: string },
): readonly { index: number; text: string }[] =>
  [...edgesTaken(layout, ...changeOf(active, before))].map((index, at) => {
    const { details } = layout.edges[index] ?? { details: [] }
    const named = details.filter((detail) => at > 0 || detail.split(' [')[0] === eventText(event))
    return { index, text: [...new Set(named)].join(' or ') || (details[0] ?? '') }
  })

/** The name of an event in a chart, where XState's name of a delay is `after <delay>`. */
export const eventText = (event: string) =>
  event === '$fenced' ? 'taken over' : event.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1')

/** The middle of an edge's longest line, where its name is drawn. */
export const middleOf = (points: Points): readonly [x: number, y: number] => {
  const lines = points.slice(1).map(([x, y], index) => {
    const [x0, y0] = points[index] ?? [x, y]
    return { at: [(x + x0) / 2, (y + y0) / 2] as const, length: Math.hypot(x - x0, y - y0) }
  })
  return lines.toSorted((a, b) => b.length - a.length)[0]?.at ?? [0, 0]
}

/** Radius of the corners of edges, in px. */
const cornerRadius = 5

/** An SVG path through the points, with round corners. */
export const edgePath = (points: Points) => {
  const parts = points.map(([x, y], index) => {
    const before = points[index - 1]
    const after = points[index + 1]
    if (before === undefined) return `M${x} ${y}`
    if (after === undefined) return `L${x} ${y}`
    const start = towards([x, y], before)
    const end = towards([x, y], after)
    return `L${start[0]} ${start[1]}Q${x} ${y} ${end[0]} ${end[1]}`
  })
  return parts.join('')
}

/** The head of an arrow that ends at the last point, as SVG polygon points. */
export const arrowHead = (points: Points) => {
  const [tip, tail] = [points.at(-1), points.at(-2)]
  if (tip === undefined || tail === undefined) return ''
  const length = Math.hypot(tip[0] - tail[0], tip[1] - tail[1]) || 1
  const [ux, uy] = [(tip[0] - tail[0]) / length, (tip[1] - tail[1]) / length]
  const [bx, by] = [tip[0] - ux * 7, tip[1] - uy * 7]
  return `${tip[0]},${tip[1]} ${bx - uy * 3.5},${by + ux * 3.5} ${bx + uy * 3.5},${by - ux * 3.5}`
}

/** A point on the way from a corner to the next point. */
const towards = ([x, y]: readonly [number, number], [toX, toY]: readonly [number, number]) => {
  const length = Math.hypot(toX - x, toY - y)
  const share = length === 0 ? 0 : Math.min(cornerRadius, length / 2) / length
  return [x + (toX - x) * share, y + (toY - y) * share]
}
