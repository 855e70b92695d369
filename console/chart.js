import { arrowHead, chartMarks, edgePath, edgesWalked } from './chart-model.js'
import { s } from './dom.js'
import { toneOf } from './format.js'

/** @typedef {import('./chart-model.js').Layout} Layout */

const lineHeight = 15

/** Minimum scale of a chart. Below it, text would be smaller than 10 px; the box scrolls instead. */
const minScale = 0.92

/** Time in ms for which the last transition stays highlighted. */
const touchedMs = 1600

/** A machine's chart, with the states of one actor highlighted. */
export class Chart {
  /** @type {SVGSVGElement} */
  element
  #layout
  /** @type {readonly string[] | null} */
  #active = null
  /** @type {Map<string, SVGGElement>} */
  #nodes = new Map()
  /** @type {SVGGElement[]} */
  #edges = []
  #fading = 0

  /** @param {Layout} layout */
  constructor(layout) {
    this.#layout = layout
    for (const node of layout.nodes) this.#nodes.set(node.id, nodeOf(node))
    this.#edges = layout.edges.map(edgeOf)
    const regions = layout.nodes.filter(({ kind }) => kind === 'region').map(({ id }) => this.#node(id))
    const states = layout.nodes.filter(({ kind }) => kind !== 'region').map(({ id }) => this.#node(id))
    this.element = s(
      'svg',
      {
        class: 'chart',
        viewBox: `0 0 ${layout.width} ${layout.height}`,
        width: layout.width,
        height: layout.height,
        role: 'img',
      },
      ...regions,
      ...this.#edges,
      ...states,
    )
    this.element.style.minWidth = `${layout.width * minScale}px`
  }

  /**
   * Highlights the active states; after the first call also what changed.
   *
   * @param {readonly string[]} active
   */
  light(active) {
    if (this.#active?.join() === active.join()) return
    const marks = chartMarks(this.#layout, active, this.#active)
    this.#active = active
    for (const [id, { standing, touched }] of marks.nodes) {
      const node = this.#node(id)
      node.dataset.standing = standing
      node.dataset.tone = standing === 'none' ? '' : toneOf(id)
      node.classList.toggle('touched', touched)
    }
    for (const [index, edge] of this.#edges.entries()) edge.classList.toggle('touched', marks.edges.has(index))
    this.element.setAttribute(
      'aria-label',
      `State chart of the ${this.#layout.machine} machine. Active: ${active.at(-1) ?? 'none'}.`,
    )
    this.#fadeSoon()
  }

  /** Marks exactly the edges on the path through these states. @param {readonly (readonly string[])[]} states */
  walk(states) {
    const walked = edgesWalked(this.#layout, states)
    for (const [index, edge] of this.#edges.entries()) edge.classList.toggle('walked', walked.has(index))
  }

  /** Forgets the highlighted states, so that the next ones are shown without a transition. */
  forget() {
    this.#active = null
  }

  /** The box of the innermost active state on the page; null when there is none. */
  activeBox() {
    const innermost = this.#active?.at(-1)
    return innermost === undefined ? null : (this.#nodes.get(innermost)?.getBoundingClientRect() ?? null)
  }

  /** @param {string} id @returns {SVGGElement} */
  #node(id) {
    const node = this.#nodes.get(id)
    if (node === undefined) throw new Error(`the chart has no state ${id}`)
    return node
  }

  #fadeSoon() {
    clearTimeout(this.#fading)
    this.#fading = setTimeout(() => {
      for (const element of [...this.#nodes.values(), ...this.#edges]) element.classList.remove('touched')
    }, touchedMs)
  }
}

/** @param {import('./chart-model.js').LayoutNode} node */
const nodeOf = ({ id, label, kind, x, y, w, h }) => {
  if (kind === 'initial') return s('g', { class: 'mark' }, s('circle', { cx: x + w / 2, cy: y + h / 2, r: w / 2 }))
  const text =
    kind === 'region'
      ? s('text', { x: x + 10, y: y + 19 }, label)
      : s('text', { x: x + w / 2, y: y + h / 2 + 4, 'text-anchor': 'middle' }, label)
  return s(
    'g',
    { class: `state ${kind}`, 'data-state': id, 'data-standing': 'none' },
    s('rect', { x: x + 0.5, y: y + 0.5, width: w - 1, height: h - 1, rx: kind === 'region' ? 8 : 6 }),
    text,
  )
}

/** @param {import('./chart-model.js').LayoutEdge} edge */
const edgeOf = ({ points, labels, details }) =>
  s(
    'g',
    { class: 'edge' },
    s('title', {}, details.join('\n')),
    s('path', { d: edgePath(points) }),
    s('polygon', { points: arrowHead(points) }),
    ...labels.flatMap(({ text, x, y }) =>
      text.split('\n').map((line, index) => s('text', { x, y: y + 11 + index * lineHeight }, line)),
    ),
  )
