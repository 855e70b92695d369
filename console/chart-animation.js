import { arrowHead, edgePath, wayOf } from './chart-model.js'
import { labelLines } from './node-label.js'

/**
 * @typedef {{ active: readonly string[], before: readonly string[], event: string, at: number }} Move a step that changed the state; `at` in ms
 * @typedef {import('./chart-model.js').Layout} Layout
 */

/** Shortest and longest time in ms for which a state is shown, and at the end. */
const [shortest, longest, rest] = [450, 1500, 2000]

const style = `:root{color-scheme:light dark}svg{font:11.5px ui-monospace,Menlo,monospace;--page:#fff;--ink:#14171c;--line:#a3a8ae;--lit:#3a4fd0}
@media(prefers-color-scheme:dark){svg{--page:#171a20;--ink:#e8eaee;--line:#646a72;--lit:#9aa8ff}}
.page,.state rect{fill:var(--page)}.state rect{stroke:var(--line)}text{fill:var(--ink)}.edge path{fill:none;stroke:var(--line)}.edge polygon{fill:var(--line)}
.lit{opacity:0}.lit rect{fill:none;stroke:var(--lit);stroke-width:3}.lit path{fill:none;stroke:var(--lit);stroke-width:2.5}.token{fill:var(--lit)}.caption{fill:var(--lit);font-weight:600}`

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** When each move begins, in ms from the start: gaps are shortened, so that waiting takes no time. @param {readonly Move[]} moves */
export const scheduleOf = (moves) => {
  let at = 0
  const begins = moves.map((move, index) => {
    const before = moves[index - 1]
    if (before !== undefined) at += Math.min(longest, Math.max(shortest, move.at - before.at))
    return at
  })
  return { begins, whole: at + rest }
}

/** The steps of an actor on its chart, as a picture that moves by itself and repeats, in both themes. @param {Layout} layout @param {readonly Move[]} moves @param {string} title */
export const animationOf = (layout, moves, title) => {
  const { begins, whole } = scheduleOf(moves)
  const seconds = `${whole / 1000}s`
  /** Shown from a time to another one. @param {number} from @param {number} to */
  const during = (from, to) => {
    const [begin, end] = [from / whole, Math.min(1, to / whole)]
    const [times, values] =
      begin === 0
        ? [
            [0, end],
            [1, 0],
          ]
        : [
            [0, begin, end],
            [0, 1, 0],
          ]
    return `<animate attributeName="opacity" calcMode="discrete" dur="${seconds}" repeatCount="indefinite" keyTimes="${times.join(';')}" values="${values.join(';')}"/>`
  }
  const nodes = layout.nodes.map((node) => {
    const { kind, x, y, w, h } = node
    if (kind === 'initial') return `<circle cx="${x + w / 2}" cy="${y + h / 2}" r="4" fill="var(--line)"/>`
    const texts = labelLines(node).map(
      ({ line, at }) =>
        `<text ${Object.entries(at)
          .map(([name, value]) => `${name}="${value}"`)
          .join(' ')}>${escaped(line)}</text>`,
    )
    return `<g class="state"><rect x="${x}" y="${y}" width="${w}" height="${h}" rx="7"/>${texts.join('')}</g>`
  })
  const edges = layout.edges.map(
    ({ points }) => `<g class="edge"><path d="${edgePath(points)}"/><polygon points="${arrowHead(points)}"/></g>`,
  )
  const lit = moves.flatMap((move, index) => {
    const [from = 0, to = whole] = [begins[index], begins[index + 1]]
    const rects = layout.nodes.filter(({ id, kind }) => move.active.includes(id) && kind !== 'region')
    const paths = wayOf(layout, move).flatMap(({ index: edge }) => layout.edges[edge]?.points ?? [])
    return [
      `<g class="lit">${rects.map(({ x, y, w, h }) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="7"/>`).join('')}${paths.length === 0 ? '' : `<path d="${edgePath(paths)}"/>`}<text class="caption" x="12" y="${layout.height + 22}">${escaped(`${index + 1}. ${move.event} → ${move.active.at(-1) ?? ''}`)}</text>${during(from, to)}</g>`,
      ...(paths.length === 0
        ? []
        : [
            `<circle class="token lit" r="5"><animateMotion path="${edgePath(paths)}" dur="${seconds}" repeatCount="indefinite" calcMode="linear" keyPoints="0;0;1;1" keyTimes="0;${from / whole};${Math.min(1, (from + shortest * 0.8) / whole)};1"/>${during(from, Math.min(to, from + shortest))}</circle>`,
          ]),
    ]
  })
  const [width, height] = [layout.width, layout.height + 34]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${escaped(title)}</title><style>${style}</style><rect class="page" width="${width}" height="${height}"/>${nodes.filter((_, index) => layout.nodes[index]?.kind === 'region').join('')}${edges.join('')}${nodes.filter((_, index) => layout.nodes[index]?.kind !== 'region').join('')}${lit.join('')}</svg>\n`
}
