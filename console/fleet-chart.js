import { arrowHead, drawingOf, edgePath, edgesWalked } from './chart-model.js'
import { toneOf } from './format.js'
import { html } from './html.js'
import { labelLines } from './node-label.js'
import { listHash } from './route.js'
import { activeAt } from './steps-model.js'

/**
 * A machine's chart with the number of actors in each state and of failures on its edges; each state links to its
 * actors.
 *
 * @param {{ layout: import('./chart-model.js').Layout, machine: import('./fleet-page.js').FleetMachine, project: string }} props
 */
export const FleetChart = ({ layout, machine: { states, failing_edges }, project }) => {
  const failures = failuresOn(layout, failing_edges)
  const drawing = drawingOf(layout, innerWidth <= 720)
  const counts = new Map(states.map(({ state, actors }) => [state, actors]))
  return html`
    <div class="fleet-box" tabindex="0" role="group" aria-label=${`Chart of ${layout.machine}`}>
      <svg class="chart fleet-chart" viewBox=${`0 0 ${drawing.width} ${drawing.height}`} width=${drawing.width} height=${drawing.height}>
        ${drawing.nodes.filter(({ kind }) => kind === 'region').map((node) => html`<${Region} node=${node} />`)}
        ${drawing.edges.map((edge, index) => html`<${Edge} edge=${edge} failed=${failures.get(index) ?? 0} />`)}
        ${drawing.nodes
          .filter(({ kind }) => kind !== 'region')
          .map(
            (node) =>
              html`<${State} node=${node} machine=${layout.machine} project=${project} count=${counts.get(node.id) ?? 0} />`,
          )}
      </svg>
    </div>
  `
}

/**
 * Number of failed steps per edge, by the edge's index. A step through a transient state counts on its last edge.
 *
 * @param {import('./chart-model.js').Layout} layout
 * @param {import('./fleet-page.js').FleetMachine['failing_edges']} failing
 */
const failuresOn = (layout, failing) => {
  /** @type {Map<number, number>} */
  const counts = new Map()
  for (const { from, to, count } of failing) {
    const last = [...edgesWalked(layout, [activeAt(from), activeAt(to)])].at(-1)
    if (last !== undefined) counts.set(last, (counts.get(last) ?? 0) + count)
  }
  return counts
}

/** @param {{ edge: import('./chart-model.js').LayoutEdge, failed: number }} props */
const Edge = ({ edge: { points, details }, failed }) => {
  const [x = 0, y = 0] = points[Math.floor(points.length / 2)] ?? []
  const failures = `${failed} ${failed === 1 ? 'failure' : 'failures'} in 24 hours`
  return html`
    <g class=${failed > 0 ? 'edge failing' : 'edge'}>
      <title>${[...(failed > 0 ? [failures] : []), ...details].join('\n')}</title>
      <path d=${edgePath(points)} /><polygon points=${arrowHead(points)} />
      ${failed > 0 && html`<text x=${x + 4} y=${y - 5} class="failures">${failed} failed</text>`}
    </g>
  `
}

/** @param {{ node: import('./chart-model.js').LayoutNode }} props */
const Region = ({ node }) => html`
  <g class="state region"><rect x=${node.x} y=${node.y} width=${node.w} height=${node.h} rx="10" /><${Label} node=${node} /></g>
`

/** @param {{ node: import('./chart-model.js').LayoutNode }} props */
const Label = ({ node }) => labelLines(node).map(({ line, at }) => html`<text ...${at}>${line}</text>`)

/** @param {{ node: import('./chart-model.js').LayoutNode, machine: string, project: string, count: number }} props */
const State = ({ node, machine, project, count }) => {
  const { id, kind, x, y, w, h } = node
  if (kind === 'initial') return html`<g class="mark"><circle cx=${x + w / 2} cy=${y + h / 2} r=${w / 2} /></g>`
  const box = html`
    <g class=${`state ${kind}`} data-state=${id} data-standing=${count > 0 ? 'within' : 'none'} data-tone=${count > 0 ? toneOf(id) : ''}>
      <rect x=${x} y=${y} width=${w} height=${h} rx="7" />
      <${Label} node=${node} />
      ${count > 0 && html`<g class="count"><rect x=${x + w - 8} y=${y - 10} width=${14 + 7 * String(count).length} height="19" rx="9" /><text x=${x + w - 1 + 3.5 * String(count).length} y=${y + 4} text-anchor="middle">${count}</text></g>`}
    </g>
  `
  if (count === 0) return box
  return html`<a href=${listHash({ project, machine, state: id })}>${box}</a>`
}
