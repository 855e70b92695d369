import { drawn } from './chart-drawing.ts'
import { edgePath, type Layout, wayOf } from './chart-model.ts'

/** a step that changed the state; `at` in ms */
export type Move = Readonly<{ active: readonly string[]; before: readonly string[]; event: string; at: number }>

/** Shortest and longest time in ms for which a state is shown, and at the end. */
const [shortest, longest, rest] = [450, 1500, 2000]

const style = `:root{color-scheme:light dark}svg{font:11.5px ui-monospace,Menlo,monospace;--page:#fff;--ink:#14171c;--line:#a3a8ae;--lit:#3a4fd0}
@media(prefers-color-scheme:dark){svg{--page:#171a20;--ink:#e8eaee;--line:#646a72;--lit:#9aa8ff}}
.page,.state rect{fill:var(--page)}.state rect{stroke:var(--line)}text{fill:var(--ink)}.edge path{fill:none;stroke:var(--line)}.edge polygon,.mark{fill:var(--line)}
.lit{opacity:0}.lit rect{fill:none;stroke:var(--lit);stroke-width:3}.lit path{fill:none;stroke:var(--lit);stroke-width:2.5}.token{fill:var(--lit)}.caption{fill:var(--lit);font-weight:600}`

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** An element as text. @param children elements; of a text or a title, its text */
const made = (tag: string, attributes: Readonly<Record<string, string | number>>, ...children: string[]) => {
  const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
  const within = /^(text|title)$/.test(tag) ? children.map(escaped) : children
  return `<${tag}${given.join('')}${within.length === 0 ? '/>' : `>${within.join('')}</${tag}>`}`
}

/** When each move begins, in ms from the start: gaps are shortened, so that waiting takes no time. */
export const scheduleOf = (moves: readonly Move[]) => {
  let at = 0
  const begins = moves.map((move, index) => {
    const before = moves[index - 1]
    if (before !== undefined) at += Math.min(longest, Math.max(shortest, move.at - before.at))
    return at
  })
  return { begins, whole: at + rest }
}

/** The steps of an actor on its chart, as a picture that moves by itself and repeats, in both themes. */
export const animationOf = (layout: Layout, moves: readonly Move[], title: string) => {
  const { begins, whole } = scheduleOf(moves)
  const [width, height] = [layout.width, layout.height + 34]
  const repeated = { dur: `${whole / 1000}s`, repeatCount: 'indefinite' }
  /** Shown from a time to another one. */
  const during = (from: number, to: number) => {
    const times = [...(from === 0 ? [] : [0]), from / whole, Math.min(1, to / whole)]
    const values = from === 0 ? '1;0' : '0;1;0'
    return made('animate', {
      ...{ attributeName: 'opacity', calcMode: 'discrete', ...repeated, keyTimes: times.join(';'), values },
    })
  }
  const lit = moves.flatMap((move, index) => {
    const [from = 0, to = whole] = [begins[index], begins[index + 1]]
    const boxes = layout.nodes.filter(({ id, kind }) => move.active.includes(id) && kind !== 'region')
    const rects = boxes.map(({ x, y, w, h }) => made('rect', { x, y, width: w, height: h, rx: 7 }))
    const path = edgePath(wayOf(layout, move).flatMap(({ index: edge }) => layout.edges[edge]?.points ?? []))
    const caption = `${index + 1}. ${move.event} → ${move.active.at(-1) ?? ''}`
    const text = made('text', { class: 'caption', x: 12, y: layout.height + 22 }, caption)
    const way = path === '' ? [] : [made('path', { d: path })]
    const step = made('g', { class: 'lit' }, ...rects, ...way, text, during(from, to))
    if (path === '') return [step]
    const keyTimes = `0;${from / whole};${Math.min(1, (from + shortest * 0.8) / whole)};1`
    const motion = made('animateMotion', { path, ...repeated, calcMode: 'linear', keyPoints: '0;0;1;1', keyTimes })
    const shown = during(from, Math.min(to, from + shortest))
    return [step, made('circle', { class: 'token lit', r: 5 }, motion, shown)]
  })
  const { parts } = drawn(layout, { make: made })
  const page = made('rect', { class: 'page', width, height })
  const given = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' }
  return `${made('svg', given, made('title', {}, title), `<style>${style}</style>`, page, ...parts, ...lit)}\n`
}
