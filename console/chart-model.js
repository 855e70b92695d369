/**
 * @typedef {{ x: number, y: number, w: number, h: number }} Box
 * @typedef {Box & { id: string, label: string, kind: 'state' | 'region' | 'final' | 'initial' | 'any' }} LayoutNode
 * @typedef {readonly (readonly [x: number, y: number])[]} Points
 * @typedef {{ from: string, to: string, points: Points, labels: readonly (Box & { text: string })[], details: readonly string[] }} LayoutEdge
 * @typedef {{ width: number, height: number, nodes: readonly LayoutNode[], edges: readonly LayoutEdge[] }} Drawing
 * @typedef {Drawing & { machine: string, version: number, narrow: Omit<Drawing, 'edges'> & { paths: readonly Points[] } }} Layout `narrow`: its paths are those of the edges
 */

/**
 * `current`: the actor is in this state and in none nested in it. `within`: it is in a nested state. `touched`: the last
 * transition entered or left this state.
 *
 * @typedef {{ standing: 'current' | 'within' | 'none', touched: boolean }} NodeMark
 * @typedef {{ nodes: ReadonlyMap<string, NodeMark>, edges: ReadonlySet<number> }} ChartMarks
 */

/** The drawing of a chart for a phone, or for a wide screen. @param {Layout} layout @param {boolean} narrow @returns {Drawing} */
export const drawingOf = (layout, narrow) => {
  if (!narrow) return layout
  const { paths, ...drawing } = layout.narrow
  return { ...drawing, edges: layout.edges.map((edge, index) => ({ ...edge, points: paths[index] ?? [], labels: [] })) }
}

/**
 * Computes the highlights of a chart.
 *
 * @param {Drawing} layout
 * @param {readonly string[]} active dotted paths of every active state
 * @param {readonly string[] | null} before those before the last transition; null when none was seen
 * @returns {ChartMarks} marks of every state, and the indexes of the edges that the transition took
 */
export const chartMarks = (layout, active, before) => {
  const [left, entered] = before === null ? [[], []] : changeOf(active, before)
  const touched = new Set([...entered, ...left])
  const nodes = layout.nodes.map(({ id }) => {
    /** @type {NodeMark} */
    const mark = { standing: standingOf(id, active), touched: touched.has(id) }
    return /** @type {const} */ ([id, mark])
  })
  return { nodes: new Map(nodes), edges: edgesTaken(layout, left, entered) }
}

/**
 * @param {readonly string[]} active
 * @param {readonly string[]} before
 * @returns {readonly [readonly string[], readonly string[]]} the states that were left, and those that were entered
 */
const changeOf = (active, before) => [
  before.filter((id) => !active.includes(id)),
  active.filter((id) => !before.includes(id)),
]

/** @param {string} id @param {readonly string[]} active @returns {NodeMark['standing']} */
const standingOf = (id, active) => {
  if (!active.includes(id)) return 'none'
  return active.some((other) => other.startsWith(`${id}.`)) ? 'within' : 'current'
}

/**
 * The edges from the states that were left to those that were entered: one edge, or two through a transient state.
 * Starts from the innermost state that has such a path.
 *
 * @param {Pick<Drawing, 'edges'>} layout
 * @param {readonly string[]} left
 * @param {readonly string[]} entered
 * @returns {ReadonlySet<number>}
 */
const edgesTaken = ({ edges }, left, entered) => {
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
 * @param {Drawing} layout
 * @param {readonly (readonly string[])[]} states the active states, one after the other
 * @returns {ReadonlySet<number>} indexes of edges
 */
export const edgesWalked = (layout, states) => {
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
 *
 * @param {Pick<Drawing, 'edges'>} layout
 * @param {{ active: readonly string[], before: readonly string[], event: string }} step
 * @returns {readonly { index: number, text: string }[]}
 */
export const wayOf = (layout, { active, before, event }) =>
  [...edgesTaken(layout, ...changeOf(active, before))].map((index, at) => {
    const { details } = layout.edges[index] ?? { details: [] }
    const named = details.filter((detail) => at > 0 || detail.split(' [')[0] === eventText(event))
    return { index, text: [...new Set(named)].join(' or ') || (details[0] ?? '') }
  })

/** The name of an event in a chart, where XState's name of a delay is `after <delay>`. @param {string} event */
export const eventText = (event) =>
  event === '$fenced' ? 'taken over' : event.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1')

/** The middle of an edge's longest line, where its name is drawn. @param {Points} points @returns {readonly [x: number, y: number]} */
export const middleOf = (points) => {
  const lines = points.slice(1).map(([x, y], index) => {
    const [x0, y0] = points[index] ?? [x, y]
    return { at: /** @type {const} */ ([(x + x0) / 2, (y + y0) / 2]), length: Math.hypot(x - x0, y - y0) }
  })
  return lines.toSorted((a, b) => b.length - a.length)[0]?.at ?? [0, 0]
}

/** Radius of the corners of edges, in px. */
const cornerRadius = 5

/** An SVG path through the points, with round corners. @param {Points} points */
export const edgePath = (points) => {
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

/** The head of an arrow that ends at the last point, as SVG polygon points. @param {Points} points */
export const arrowHead = (points) => {
  const [tip, tail] = [points.at(-1), points.at(-2)]
  if (tip === undefined || tail === undefined) return ''
  const length = Math.hypot(tip[0] - tail[0], tip[1] - tail[1]) || 1
  const [ux, uy] = [(tip[0] - tail[0]) / length, (tip[1] - tail[1]) / length]
  const [bx, by] = [tip[0] - ux * 7, tip[1] - uy * 7]
  return `${tip[0]},${tip[1]} ${bx - uy * 3.5},${by + ux * 3.5} ${bx + uy * 3.5},${by - ux * 3.5}`
}

/** A point on the way from a corner to the next point. @param {readonly [number, number]} corner @param {readonly [number, number]} next */
const towards = ([x, y], [toX, toY]) => {
  const length = Math.hypot(toX - x, toY - y)
  const share = length === 0 ? 0 : Math.min(cornerRadius, length / 2) / length
  return [x + (toX - x) * share, y + (toY - y) * share]
}
