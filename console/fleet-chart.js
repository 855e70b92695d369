import { arrowHead, edgePath } from './chart-model.js'
import { toneOf } from './format.js'
import { html } from './html.js'
import { listHash } from './route.js'

/** Smaller than this part of its size its text cannot be read. */
const leastScale = 0.92

/**
 * A machine's chart with the number of actors in each state; a state opens its actors.
 *
 * @param {{ layout: import('./chart-model.js').Layout, states: readonly import('./fleet-page.js').FleetState[], project: string }} props
 */
export const FleetChart = ({ layout, states, project }) => {
  const counts = new Map(states.map(({ state, actors }) => [state, actors]))
  return html`
    <div class="chart-box" tabindex="0" role="group" aria-label=${`Chart of ${layout.machine}`}>
      <svg class="chart fleet-chart" viewBox=${`0 0 ${layout.width} ${layout.height}`} width=${layout.width} height=${layout.height} style=${{ minWidth: `${layout.width * leastScale}px` }}>
        ${layout.nodes.filter(({ kind }) => kind === 'region').map((node) => html`<${Region} node=${node} />`)}
        ${layout.edges.map(({ points, details }) => html`<g class="edge"><title>${details.join('\n')}</title><path d=${edgePath(points)} /><polygon points=${arrowHead(points)} /></g>`)}
        ${layout.nodes
          .filter(({ kind }) => kind !== 'region')
          .map(
            (node) =>
              html`<${State} node=${node} machine=${layout.machine} project=${project} count=${counts.get(node.id) ?? 0} />`,
          )}
      </svg>
    </div>
  `
}

/** @param {{ node: import('./chart-model.js').LayoutNode }} props */
const Region = ({ node: { x, y, w, h, label } }) => html`
  <g class="state region"><rect x=${x} y=${y} width=${w} height=${h} rx="8" /><text x=${x + 10} y=${y + 19}>${label}</text></g>
`

/** @param {{ node: import('./chart-model.js').LayoutNode, machine: string, project: string, count: number }} props */
const State = ({ node: { id, kind, label, x, y, w, h }, machine, project, count }) => {
  if (kind === 'initial') return html`<g class="mark"><circle cx=${x + w / 2} cy=${y + h / 2} r=${w / 2} /></g>`
  const box = html`
    <g class=${`state ${kind}`} data-state=${id} data-standing=${count > 0 ? 'within' : 'none'} data-tone=${count > 0 ? toneOf(id) : ''}>
      <rect x=${x} y=${y} width=${w} height=${h} rx="6" />
      <text x=${x + w / 2} y=${y + h / 2 + 4} text-anchor="middle">${label}</text>
      ${count > 0 && html`<g class="count"><rect x=${x + w - 8} y=${y - 10} width=${14 + 7 * String(count).length} height="19" rx="9" /><text x=${x + w - 1 + 3.5 * String(count).length} y=${y + 4} text-anchor="middle">${count}</text></g>`}
    </g>
  `
  if (count === 0) return box
  return html`<a href=${listHash({ project, machine, state: id })}>${box}</a>`
}
