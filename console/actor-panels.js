import { duration } from './age.js'
import { preciseTime, toneOf } from './format.js'
import { html } from './html.js'
import { routeHash } from './route.js'
import { serverNow } from './server-time.js'
import { effectSpans, guardOf, messagesOf, taken } from './steps-model.js'

/**
 * @typedef {import('./steps-model.js').Step} Step
 * @typedef {import('./chart-model.js').Layout} Layout
 */

/** @type {Readonly<Record<string, string>>} */
const causes = {
  creation: 'created',
  request: 'request',
  effect: 'result',
  part: 'part',
  message: 'message',
  reminder: 'reminder',
  operator: 'operator',
  runtime: 'runtime',
}

/** Ids in a text as links. @param {string} project @param {string} text */
export const linked = (project, text) =>
  text
    .split(/\b((?:ses|run|act|dlv|agv|ksr|mwr|ers)_[0-9a-z]{26})\b/)
    .map((part, index) =>
      index % 2 === 0 ? part : html`<a href=${routeHash({ view: 'actor', project, id: part })}>${part}</a>`,
    )

/**
 * One row a commit: cause, from → to with the guard that decided, effects, messages, reminders.
 *
 * @param {{ project: string, steps: readonly Step[], layout: Layout, chosen: number, choose: (index: number) => void }} props
 */
export const StepsPanel = ({ project, steps, layout, chosen, choose }) => {
  const spans = new Map(effectSpans(steps).map((span) => [span.id, span]))
  // a stream's parts say nothing that its log does not say: one row for all in a row
  const rows = steps
    .map((step, index) => ({ step, index }))
    .filter(
      ({ step, index }) => step.caused_by !== 'part' || step.to !== null || steps[index + 1]?.caused_by !== 'part',
    )
  return html`
    <ol class="steps">
      ${rows.map(
        ({ step, index }) => html`
        <li key=${step.seq} class=${index === chosen ? 'chosen' : ''} data-seq=${step.seq}>
          <button type="button" class="step-head" aria-pressed=${index === chosen} onClick=${() => choose(index)}>
            <span class="seq">${step.seq}</span>
            <span class="step-cause">${causes[step.caused_by] ?? step.caused_by}</span>
            <span class="name">${step.event}</span>
            <time datetime=${step.at}>${preciseTime(step.at)}</time>
          </button>
          ${step.to !== null && html`<p class="moved">${step.from === null ? null : html`<span class="chip" data-tone=${toneOf(step.from)}>${step.from}</span> → `}<span class="chip" data-tone=${toneOf(step.to)}>${step.to}</span>${guardText(layout, step)}</p>`}
          ${step.caused_by === 'message' && html`<p class="muted">from ${linked(project, step.cause.replace(/:\d+:m\d+$/, ''))}</p>`}
          ${step.effects.map((effect) => html`<p class="effect"><strong>${effect.name}</strong> ${outcomeOf(spans.get(effect.id))}</p>`)}
          ${step.messages.map(({ to, event }) => html`<p class="muted">→ ${linked(project, to)} ${event}</p>`)}
        </li>`,
      )}
    </ol>
  `
}

/** @param {Layout} layout @param {Step} step */
const guardText = (layout, step) => {
  const guard = guardOf(layout, step)
  return guard === null ? null : html` <span class="muted">guard ${guard}</span>`
}

/** @param {import('./steps-model.js').EffectSpan | undefined} span */
const outcomeOf = (span) => {
  if (span === undefined) return null
  const attempts = span.attempts > 1 ? `, attempt ${span.attempts}` : ''
  if (span.endedAt === null) return html`<span class="chip" data-tone="work">in progress${attempts}</span>`
  return html`<span class="muted">${duration(span.endedAt - span.startedAt)}${attempts}</span> ${span.outcome}`
}

/**
 * Why the actor is here, and what can happen next.
 *
 * @param {{ actor: import("./actor-facts.js").Actor, steps: readonly Step[], layout: Layout }} props
 */
export const WhyPanel = ({ actor, steps, layout }) => {
  const state = actor.active.at(-1) ?? ''
  const entered = steps.findLast(({ to }) => to !== null)
  const spans = new Map(effectSpans(steps).map((span) => [span.id, span]))
  const now = serverNow().getTime()
  const can = taken(layout, actor.active)
  return html`
    <section class="why" aria-label="Why it is here">
      ${actor.parked !== null && html`<p class="parked">Parked: ${actor.parked}</p>`}
      ${entered && html`<p>In <strong>${state}</strong> since ${preciseTime(entered.at)}, by ${causes[entered.caused_by]} <code>${entered.event}</code>.</p>`}
      ${actor.in_flight.map(({ id, name, policy }) => {
        const span = spans.get(id)
        return html`<p>Waits for <strong>${name}</strong> ${aboutParams(span?.params)}${span ? `since ${duration(now - span.startedAt)}` : ''} (${policy.replaceAll('_', ' ')}).</p>`
      })}
      ${actor.reminders.map(({ name, due }) => html`<p>At ${preciseTime(due)} (in ${duration(Date.parse(due) - now)}): <code>${shortReminder(name)}</code></p>`)}
      ${actor.in_flight.length === 0 && actor.reminders.length === 0 && can.length === 0 && html`<p>Nothing more can happen to it.</p>`}
      ${can.length > 0 && html`<details><summary>What can happen next</summary><ul>${can.map(({ detail, to }) => html`<li><code>${detail}</code> → ${to}</li>`)}</ul></details>`}
    </section>
  `
}

/** @param {unknown} params */
const aboutParams = (params) => {
  if (typeof params !== 'object' || params === null) return ''
  const said = ['tool', 'name', 'model', 'url', 'method'].flatMap((field) => {
    const value = Reflect.get(params, field)
    return typeof value === 'string' ? [value] : []
  })
  return said.length === 0 ? '' : html`<code>${said.join(' ')}</code> `
}

/** XState's name of a delay is `xstate.after.<delay>.<machine>.<state>`. @param {string} name */
const shortReminder = (name) => name.replace(/^xstate\.after\./, '')

/**
 * How long each effect took, one bar each: until its first part, and until its end.
 *
 * @param {{ steps: readonly Step[] }} props
 */
export const WaterfallPanel = ({ steps }) => {
  const spans = effectSpans(steps)
  if (spans.length === 0) return html`<p class="empty">No effect was begun yet.</p>`
  const now = serverNow().getTime()
  const from = Math.min(...spans.map(({ startedAt }) => startedAt))
  const to = Math.max(...spans.map(({ endedAt }) => endedAt ?? now))
  const whole = Math.max(1, to - from)
  /** @param {number} ms */
  const percent = (ms) => `${(100 * ms) / whole}%`
  return html`
    <ol class="waterfall">
      ${spans.map((span) => {
        const end = span.endedAt ?? now
        const first = span.firstPartAt ?? end
        return html`
          <li key=${span.id}>
            <span class="name">${span.name}</span>
            <span class="muted">${duration(end - span.startedAt)}${span.firstPartAt === null ? '' : `, first after ${duration(first - span.startedAt)}`} ${span.outcome ?? 'in progress'}</span>
            <div class="bar-line"><div class="bar" data-open=${span.endedAt === null ? 'true' : undefined} style=${{ marginLeft: percent(span.startedAt - from), width: percent(end - span.startedAt) }}><div class="bar-wait" style=${{ width: `${(100 * (first - span.startedAt)) / Math.max(1, end - span.startedAt)}%` }}></div></div></div>
          </li>`
      })}
    </ol>
  `
}

const laneWidth = 150
const rowHeight = 34

/**
 * Messages between this actor and others, in their order.
 *
 * @param {{ project: string, id: string, steps: readonly Step[] }} props
 */
export const SequencePanel = ({ project, id, steps }) => {
  const sent = messagesOf(id, steps)
  if (sent.length === 0) return html`<p class="empty">No message went to another actor, or came from one.</p>`
  const lanes = [...new Set([id, ...sent.flatMap(({ from, to }) => [from, to])])]
  const [width, height] = [lanes.length * laneWidth, 40 + sent.length * rowHeight]
  /** @param {string} actor */
  const middle = (actor) => lanes.indexOf(actor) * laneWidth + laneWidth / 2
  return html`
    <div class="chart-box" tabindex="0" role="group" aria-label="Messages">
      <svg class="sequence" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
        ${lanes.map(
          (lane) => html`
          <line x1=${middle(lane)} x2=${middle(lane)} y1="28" y2=${height} />
          ${/_[0-9a-z]{26}$/.test(lane) ? html`<a href=${routeHash({ view: 'actor', project, id: lane })}><text x=${middle(lane)} y="16" text-anchor="middle">${shortId(lane)}</text></a>` : html`<text x=${middle(lane)} y="16" text-anchor="middle">${lane}</text>`}`,
        )}
        ${sent.map(({ from, to, event, at }, index) => {
          const y = 56 + index * rowHeight
          const [x1, x2] = [middle(from), middle(to)]
          const tip = x2 > x1 ? -6 : 6
          return html`<g><title>${at}</title><path d=${`M${x1} ${y}H${x2}m${tip} -4l${-tip} 4l${tip} 4`} /><text x=${(x1 + x2) / 2} y=${y - 6} text-anchor="middle">${event}</text></g>`
        })}
      </svg>
    </div>
  `
}

/** @param {string} id */
const shortId = (id) => (id.length > 16 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id)
