import type { Actor } from './actor-facts.ts'
import { causeOf } from './actor-panels.ts'
import { duration, preciseTime, serverNow } from './format.ts'
import { html, useEffect, useState } from './html.ts'
import { effectSpans, nameOf, taken } from './steps-model.ts'

const tickMs = 1000
/** Time until a reminder, in ms, from which it is listed among the possible next events only. */
const farMs = 60 * 60 * 1000

/**
 * Why the actor is in its state, and what can happen next: effects in progress with their subjects and deadlines,
 * reminders as countdowns, and the events that it accepts.
 *
 * @param props `steps`: up to the selected commit `at`, which `next` follows; both are absent for the newest
 */
export const WhyPanel = ({ actor, steps, layout, at, next }: Props & { at?: Step; next?: Step }) => {
  const [, tick] = useState(0)
  const counts = at === undefined && (actor.in_flight.length > 0 || actor.reminders.length > 0)
  const now = at === undefined ? serverNow().getTime() : Date.parse(at.at)
  useEffect(() => {
    if (!counts) return
    const timer = setInterval(() => tick((count) => count + 1), tickMs)
    return () => clearInterval(timer)
  }, [counts])
  const state = actor.active.at(-1) ?? ''
  const entered = steps.findLast(({ to }) => to !== null)
  const can = taken(layout, actor.active)
  const [near, far] = [true, false].map((soon) =>
    actor.reminders.filter(({ due }) => Date.parse(due) - now < farMs === soon),
  )
  const nothing = actor.in_flight.length === 0 && actor.reminders.length === 0 && can.length === 0
  return html`
    <section class="min-h-76 px-16 pt-10 wrap-anywhere" aria-label="Why it is here">
      ${actor.parked !== null && html`<p class="text-bad">Parked: ${actor.parked}</p>`}
      ${entered && html`<p>In <strong>${state}</strong> since ${preciseTime(entered.at)}, by ${causeOf(entered)} <code>${nameOf(layout, entered)}</code>.</p>`}
      ${actor.in_flight.map((flight) => html`<${Flight} key=${flight.id} flight=${flight} steps=${steps} now=${now} />`)}
      ${near?.map((reminder) => html`<${Countdown} key=${reminder.name} reminder=${reminder} now=${now} />`)}
      ${at !== undefined && html`<p class="muted">${next === undefined ? 'This is the newest commit.' : html`Then, ${duration(Date.parse(next.at) - now)} later: <code>${nameOf(layout, next)}</code>${next.to !== null && html` → ${next.to}`}.`}</p>`}
      ${at === undefined && nothing && actor.parked === null && html`<p>Nothing more can happen to it.</p>`}
      ${at === undefined && can.length > 0 && html`<details><summary>What can happen next</summary>${far?.map((reminder) => html`<${Countdown} key=${reminder.name} reminder=${reminder} now=${now} />`)}<ul>${can.map(({ detail, to }) => html`<li class="pl-14 py-1"><code>${detail}</code> → ${to}</li>`)}</ul></details>`}
    </section>
  `
}

const Flight = (props: Props & { flight: Actor['in_flight'][number]; now: number }) => {
  const { flight, steps, now } = props
  const { id, name, policy, about, since, deadline } = flight
  const span = effectSpans(steps).find((each) => each.id === id)
  const attempt = span && span.attempts > 1 ? `, attempt ${span.attempts}` : ''
  return html`
    <p>
      Waiting for <strong>${name}</strong> ${about !== null && html`<code>${about}</code> `}${since === null ? '' : `since ${duration(now - Date.parse(since))}`} (${policy.replaceAll('_', ' ')}${attempt})${deadline === null ? '' : `, ${until(deadline, now)}`}.
    </p>
  `
}

const until = (deadline: string, now: number) => {
  const left = Date.parse(deadline) - now
  return left >= 0 ? `at most ${duration(left)} more` : `${duration(-left)} past its deadline`
}

const Countdown = ({ reminder: { name, due }, now }: { reminder: Actor['reminders'][number]; now: number }) => {
  const left = Date.parse(due) - now
  const when = left >= 0 ? `in ${duration(left)}` : `due for ${duration(-left)}`
  return html`<p>At ${preciseTime(due)} (${when}): <code>${name.replace(/^xstate\.after\./, '')}</code></p>`
}
