import { drawn } from './chart-drawing.ts'
import {
  chartMarks,
  type Drawing,
  drawingOf,
  edgePath,
  edgesWalked,
  type LayoutEdge,
  middleOf,
  type Points,
  wayOf,
} from './chart-model.ts'
import { s } from './dom.ts'
import { toneOf } from './format.ts'

/** Width of a character of the chart's font, in px. */
const charWidth = 6.95

/** Time in ms for which the states of the last transition stay highlighted; its edge stays until the next. */
const touchedMs = 1600

/** A machine's chart, with the states of one actor highlighted. */
export class Chart {
  element: SVGSVGElement
  #drawing
  #active: readonly string[] | null = null
  #nodes
  #edges
  #names = s('g', { class: 'names' })
  #fading = 0
  #machine
  /** Called when other states are highlighted. */
  onLight = () => {}

  /** @param narrow whether it is drawn for a phone */
  constructor(layout: Layout, narrow: boolean = false) {
    const drawing = drawingOf(layout, narrow)
    this.#drawing = drawing
    this.#machine = layout.machine
    const { nodes, edges, parts } = drawn<SVGElement>(drawing, {
      make: s,
      ofEdge: ({ labels, details }) => ({
        about: details.join('\n'),
        more: labels.map(({ text, x, y }) => s('text', { x, y: y + 11 }, text)),
      }),
    })
    this.#nodes = nodes
    this.#edges = edges
    const viewBox = `0 0 ${drawing.width} ${drawing.height}`
    this.element = s('svg', { class: 'chart', viewBox, role: 'img' }, ...parts, this.#names)
  }

  /** The size at which its text has 11.5 px. */
  get size() {
    return this.#drawing
  }

  /** The middle of the active state. */
  get focus(): readonly [x: number, y: number] {
    const node = this.#drawing.nodes.find(({ id }) => id === this.#active?.at(-1))
    return node === undefined ? [this.#drawing.width / 2, 0] : [node.x + node.w / 2, node.y + node.h / 2]
  }

  /**
   * Highlights the active states; after the first call also what changed.
   *
   * @param event the event that led here, which names the edges it took
   */
  light(active: readonly string[], event: string = '') {
    if (this.#active?.join() === active.join()) return
    const before = this.#active
    const marks = chartMarks(this.#drawing, active, before)
    this.#active = active
    for (const [id, { standing, touched }] of marks.nodes) {
      const node = this.#node(id)
      node.dataset.standing = standing
      node.dataset.tone = standing === 'none' ? '' : toneOf(id)
      node.classList.toggle('touched', touched)
    }
    for (const [index, edge] of this.#edges.entries()) edge.classList.toggle('touched', marks.edges.has(index))
    this.#name(before === null ? [] : wayOf(this.#drawing, { active, before, event }), event !== '')
    this.element.setAttribute(
      'aria-label',
      `State chart of the ${this.#machine} machine. Active: ${active.at(-1) ?? 'none'}.`,
    )
    this.#fadeSoon()
    this.onLight()
  }

  /** Marks exactly the edges on the path through these states. */
  walk(states: readonly (readonly string[])[]) {
    const walked = edgesWalked(this.#drawing, states)
    for (const [index, edge] of this.#edges.entries()) edge.classList.toggle('walked', walked.has(index))
  }

  /** Forgets the highlighted states, so that the next ones are shown without a transition. */
  forget() {
    this.#active = null
  }

  /** Names the edges that were taken, and moves a token along them. */
  #name(way: ReturnType<typeof wayOf>, named: boolean) {
    const taken = way.flatMap(({ index, text }) => {
      const edge = this.#drawing.edges[index]
      return edge === undefined ? [] : [{ edge, index, text: named ? text : '' }]
    })
    for (const [index, edge] of this.#edges.entries())
      edge.classList.toggle(
        'named',
        taken.some((each) => each.index === index && each.text !== ''),
      )
    const moves = this.element.isConnected && !document.hidden
    this.#names.replaceChildren(
      ...taken.flatMap(({ edge }) => (moves ? [tokenOn(edge.points)] : [])),
      ...taken.flatMap(({ edge, text }) => (text === '' ? [] : [pill(text, edge, this.#drawing)])),
    )
    for (const motion of this.#names.querySelectorAll('animateMotion'))
      if (motion instanceof SVGAnimationElement) motion.beginElement()
  }

  #node(id: string) {
    const node = this.#nodes.get(id)
    if (node === undefined) throw new Error(`the chart has no state ${id}`)
    return node
  }

  #fadeSoon() {
    clearTimeout(this.#fading)
    this.#fading = setTimeout(() => {
      for (const element of this.#nodes.values()) element.classList.remove('touched')
    }, touchedMs)
  }
}

const tokenOn = (points: Points) =>
  s(
    'circle',
    { class: 'token', r: 5 },
    s('animateMotion', { path: edgePath(points), dur: '0.7s', begin: 'indefinite', fill: 'freeze' }),
  )

/** How far a name may be moved up or down, in px, so that it covers no state. */
const shifts = [0, -16, 16, -32, 32]

/** The name of an edge that was taken. */
const pill = (text: string, { points, labels: [label] }: LayoutEdge, { width, height, nodes }: Drawing) => {
  const [x, y] = label === undefined ? middleOf(points) : [label.x + label.w / 2, label.y + label.h / 2]
  const wide = text.length * charWidth + 14
  const left = Math.max(2, Math.min(width - wide - 2, x - wide / 2))
  const tops = shifts.map((by) => Math.max(2, Math.min(height - 20, y - 9 + by)))
  const free = tops.find((at) =>
    nodes.every(
      ({ kind, x, y, w, h }) => kind === 'region' || left > x + w || left + wide < x || at > y + h || at + 18 < y,
    ),
  )
  const top = free ?? tops[0] ?? 0
  return s(
    'g',
    { class: free === undefined ? 'edge-name passing' : 'edge-name' },
    s('rect', { x: left, y: top, width: wide, height: 18, rx: 9 }),
    s('text', { x: left + wide / 2, y: top + 13, 'text-anchor': 'middle' }, text),
  )
}
