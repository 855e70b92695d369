import { causes } from './actor-panels.js'
import { duration } from './age.js'
import { preciseTime } from './format.js'
import { html } from './html.js'
import { serverNow } from './server-time.js'
import { effectSpans, taken } from './steps-model.js'
import { useEffect, useState } from './vendor/hooks.js'

/**
 * @typedef {import('./steps-model.js').Step} Step
 * @typedef {import('./chart-model.js').Layout} Layout
 * @typedef {import('./actor-facts.js').Actor} Actor
 */

const tickMs = 1000

/**
 * Why the actor is in its state, and what can happen next: effects in progress with their subjects and deadlines,
 * reminders as countdowns, and the events that it accepts.
 *
 * @param {{ actor: Actor, steps: readonly Step[], layout: Layout }} props
 */
export const WhyPanel = ({ actor, steps, layout }) => {
  const [, tick] = useState(0)
  const counts = actor.in_flight.length > 0 || actor.reminders.length > 0
  useEffect(() => {
    if (!counts) return
    const timer = setInterval(() => tick((count) => count + 1), tickMs)
    return () => clearInterval(timer)
  }, [counts])
  const state = actor.active.at(-1) ?? ''
  const entered = steps.findLast(({ to }) => to !== null)
  const can = taken(layout, actor.active)
  const nothing = actor.in_flight.length === 0 && actor.reminders.length === 0 && can.length === 0
  return html`
    <section class="why" aria-label="Why it is here">
      ${actor.parked !== null && html`<p class="parked">Parked: ${actor.parked}</p>`}
      ${entered && html`<p>In <strong>${state}</strong> since ${preciseTime(entered.at)}, by ${causes[entered.caused_by]} <code>${entered.event}</code>.</p>`}
      ${actor.in_flight.map((flight) => html`<${Flight} key=${flight.id} flight=${flight} steps=${steps} />`)}
      ${actor.reminders.map((reminder) => html`<${Countdown} key=${reminder.name} reminder=${reminder} />`)}
      ${nothing && actor.parked === null && html`<p>Nothing more can happen to it.</p>`}
      ${can.length > 0 && html`<details><summary>What can happen next</summary><ul>${can.map(({ detail, to }) => html`<li><code>${detail}</code> → ${to}</li>`)}</ul></details>`}
    </section>
  `
}

/** @param {{ flight: Actor['in_flight'][number], steps: readonly Step[] }} props */
const Flight = ({ flight: { id, name, policy, about, since, deadline }, steps }) => {
  const span = effectSpans(steps).find((each) => each.id === id)
  const now = serverNow().getTime()
  const attempt = span && span.attempts > 1 ? `, attempt ${span.attempts}` : ''
  return html`
    <p>
      Waiting for <strong>${name}</strong> ${about !== null && html`<code>${about}</code> `}${since === null ? '' : `since ${duration(now - Date.parse(since))}`}
      (${policy.replaceAll('_', ' ')}${attempt})${deadline === null ? '' : `, ${until(deadline, now)}`}.
    </p>
  `
}

/** @param {string} deadline @param {number} now */
const until = (deadline, now) => {
  const left = Date.parse(deadline) - now
  return left >= 0 ? `at most ${duration(left)} more` : `${duration(-left)} past its deadline`
}

/** @param {{ reminder: Actor['reminders'][number] }} props */
const Countdown = ({ reminder: { name, due } }) => {
  const left = Date.parse(due) - serverNow().getTime()
  const when = left >= 0 ? `in ${duration(left)}` : `due for ${duration(-left)}`
  return html`<p>At ${preciseTime(due)} (<span class="countdown">${when}</span>): <code>${name.replace(/^xstate\.after\./, '')}</code></p>`
}
