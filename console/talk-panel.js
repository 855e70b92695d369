import { duration } from './age.js'
import { dollars } from './format.js'
import { html } from './html.js'
import { linked } from './linked-ids.js'
import { linesIn } from './playground/conversation.js'
import { isFailure } from './tool-failure.js'

/** @typedef {readonly import('./event-log.js').ActorEvent[]} Events */

/** Whether an actor has a conversation. @param {{ machine: string }} actor */
export const hasTalk = ({ machine }) => machine === 'session' || machine === 'run'

/** The events up to a commit; null: all. @param {Events} events @param {number | null} upTo */
const eventsTo = (events, upTo) => (upTo === null ? events : events.filter(({ sequence }) => sequence <= upTo))

/**
 * What was said, up to the selected commit.
 *
 * @param {{ project: string, events: Events, upTo: number | null }} props `upTo`: the newest event that is shown
 */
export const TalkPanel = ({ project, events, upTo }) => {
  const lines = linesIn(eventsTo(events, upTo))
  if (lines.length === 0) return html`<p class="empty">Nothing was said yet.</p>`
  return html`<div class="messages">${lines.map(({ kind, text }, at) => html`<p key=${at} data-kind=${kind}>${linked(project, text)}</p>`)}</div>`
}

/**
 * Cost, tokens, tool calls and time of the loaded part of a log, up to the selected commit.
 *
 * @param {{ events: Events, upTo: number | null }} props
 */
export const Sums = ({ events, upTo }) => {
  const shown = eventsTo(events, upTo)
  const usages = shown.flatMap(({ event_type, payload }) => {
    const counts = /^(turn\.(completed|failed)|run\.model_call\.completed)$/.test(event_type)
    const { usage } = payload
    return counts && typeof usage === 'object' && usage !== null ? [usage] : []
  })
  /** @param {string} field */
  const sum = (field) => usages.reduce((total, usage) => total + Number(Reflect.get(usage, field) ?? 0), 0)
  const unpriced = usages.some((usage) => Reflect.get(usage, 'cost_usd') === null)
  const tools = shown.filter(({ event_type }) => event_type.endsWith('tool_call.completed'))
  const failed = shown.filter(isFailure).length
  const [first, last] = [shown[0], shown.at(-1)]
  const facts = [
    ['Cost', usages.length > 0 && unpriced ? `${dollars(sum('cost_usd'))} +` : dollars(sum('cost_usd'))],
    ['Tokens', sum('total_tokens').toLocaleString('en')],
    ['Tool calls', String(tools.length)],
    ['Errors', String(failed)],
    ['Took', first && last ? duration(Date.parse(last.created_at) - Date.parse(first.created_at)) : '–'],
  ]
  return html`<dl class="sum-strip" aria-label="Sums">${facts.map(([name, value]) => html`<div data-tone=${name === 'Errors' && failed > 0 ? 'bad' : undefined}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
