import type { FleetMachine, Flow } from './answers.d.ts'
import { drawn } from './chart-drawing.ts'
import { drawingOf, edgesWalked, type LayoutEdge, type LayoutNode, middleOf, type Points } from './chart-model.ts'
import { toneOf } from './format.ts'
import { html, useEffect, useRef } from './html.ts'
import { listHash } from './route.ts'
import { activeAt } from './steps-model.ts'
import type { VNode } from './vendor/preact.js'

/**
 * A machine's chart with the number of actors in each state, and of failures and of steps in the last minute on its
 * edges; each state links to its actors.
 */
export const FleetChart = (props: Props & { machine: FleetMachine }) => {
  const { layout, project } = props
  const { states, failing_edges, flows, machine } = props.machine
  // a failed step through a transient state failed on its last edge
  const failures = countsOn(layout, failing_edges, (taken) => taken.slice(-1))
  const passed = countsOn(layout, flows, (taken) => taken)
  const drawing = drawingOf(layout, innerWidth <= 720)
  const counts = new Map(states.map(({ state, actors }) => [state, actors]))
  const { parts } = drawn<VNode>(drawing, {
    make: (tag, attributes, ...children) => html`<${tag} ...${attributes}>${children}<//>`,
    ofNode: (node) => {
      const count = counts.get(node.id) ?? 0
      if (count === 0) return {}
      return {
        attributes: { 'data-standing': 'within', 'data-tone': toneOf(node.id) },
        more: [html`<${Count} node=${node} count=${count} />`],
        around: (state) => html`<a href=${listHash({ project, machine, state: node.id })}>${state}</a>`,
      }
    },
    ofEdge: (edge, index) => ofEdge(edge, failures.get(index) ?? 0, passed.get(index) ?? 0),
  })
  return html`
    <div class="fleet-box p-12 overflow-auto" tabindex="0" role="group" aria-label=${`Chart of ${machine}`}>
      <div class="fleet-drawing" style=${{ width: `${drawing.width}px` }}>
      <svg class="chart fleet-chart" viewBox=${`0 0 ${drawing.width} ${drawing.height}`}>${parts}</svg>
      ${drawing.edges.map(({ points }, index) => html`<${Tokens} key=${index} points=${points} width=${drawing.width} passed=${passed.get(index) ?? 0} />`)}
      </div>
    </div>
  `
}

/** The number of actors in a state, at its corner. */
const Count = ({ node: { x, y, w }, count }: { node: LayoutNode; count: number }) => {
  const half = 3.5 * String(count).length
  return html`<g class="count"><rect x=${x + w - 8} y=${y - 10} width=${14 + 2 * half} height="19" rx="9" /><text x=${x + w - 1 + half} y=${y + 4} text-anchor="middle">${count}</text></g>`
}

const ofEdge = ({ points, details }: LayoutEdge, failed: number, passed: number) => {
  const [x, y] = middleOf(points)
  const counts = [
    ...(failed > 0 ? [`${failed} ${failed === 1 ? 'failure' : 'failures'} in 24 hours`] : []),
    ...(passed > 0 ? [`${passed} ${passed === 1 ? 'step' : 'steps'} in the last minute`] : []),
  ]
  return {
    name: failed > 0 ? 'edge failing' : 'edge',
    about: [...counts, ...details].join('\n'),
    more: [
      ...(failed > 0 ? [html`<text x=${x + 4} y=${y - 5} class="failures">${failed} failed</text>`] : []),
      ...(passed > 0 ? [html`<text x=${x + 4} y=${y + 12} class="passed">${passed}/min</text>`] : []),
    ],
  }
}

/** Number of steps per edge, by the edge's index. @param counted the edges of a step on which it counts */
const countsOn = (layout: Layout, steps: readonly Flow[], counted: (taken: readonly number[]) => readonly number[]) => {
  const counts: Map<number, number> = new Map()
  for (const { from, to, count } of steps)
    for (const edge of counted([...edgesWalked(layout, [activeAt(from), activeAt(to)])]))
      counts.set(edge, (counts.get(edge) ?? 0) + count)
  return counts
}

/** Time in ms that a token takes on its edge: the more steps a minute, the less. From so many on, two tokens move. */
const [shortest, longest, many] = [1_200, 5_000, 30]

/**
 * Tokens that move along an edge. They are elements above the chart, which the browser moves without drawing anything
 * again: in the chart each frame laid it out.
 *
 * @param props `width` of the chart
 */
const Tokens = ({ points, width, passed }: { points: Points; width: number; passed: number }) => {
  const box = useRef<HTMLElement | null>(null)
  const duration = Math.max(shortest, Math.min(longest, 60_000 / passed))
  const count = passed === 0 ? 0 : passed < many ? 1 : 2
  useEffect(() => {
    // hidden where little motion is wanted (`chart.css`)
    const shown = [...(box.current?.children ?? [])].filter((token) => getComputedStyle(token).display !== 'none')
    const timing = { duration, iterations: Number.POSITIVE_INFINITY }
    const moves = shown.map((token, at) =>
      token.animate(movesAlong(points, width), { ...timing, delay: (-duration * at) / count }),
    )
    return () => {
      for (const move of moves) move.cancel()
    }
  }, [duration, count])
  return count > 0 && html`<div ref=${box}>${Array.from({ length: count }, () => html`<i class="token"></i>`)}</div>`
}

/** Key frames from point to point at one speed, in parts of the width of the chart's box. */
const movesAlong = (points: Points, width: number) => {
  const lengths = points.map(([x, y], at) => Math.hypot(x - (points[at - 1]?.[0] ?? x), y - (points[at - 1]?.[1] ?? y)))
  const whole = lengths.reduce((sum, length) => sum + length, 0)
  let gone = 0
  return points.map(([x, y], at) => {
    gone += lengths[at] ?? 0
    return {
      offset: Math.min(1, gone / whole),
      transform: `translate(${(100 * x) / width}cqw, ${(100 * y) / width}cqw)`,
    }
  })
}
