import { dollars, duration } from './format.js'
import { html } from './html.js'
import { linked } from './linked-ids.js'
import { nothing } from './parts/cells.js'
import { Pictures } from './parts/pictures.js'
import { imagesIn } from './parts/turn-input.js'
import { linesIn } from './playground/conversation.js'
import { sumsOf } from './sums.js'

/** @typedef {import('./sums.js').Events} Events */

/** Whether an actor has a conversation. @param {{ machine: string }} actor */
export const hasTalk = ({ machine }) => machine === 'session' || machine === 'run'

/** The events up to a commit; null: all. @param {Events} events @param {number | null} upTo */
const eventsTo = (events, upTo) => (upTo === null ? events : events.filter(({ sequence }) => sequence <= upTo))

/** The turn of a session that started last, up to a commit; null when the loaded events have none. @param {Events} events @param {number | null} upTo @returns {import('./commands.js').Moment['turn']} */
export const turnAt = (events, upTo) => {
  const payload = eventsTo(events, upTo).findLast(({ event_type }) => event_type === 'turn.started')?.payload
  if (payload === undefined) return null
  const { turn_number, input_text = '', input, model } = payload
  return {
    ...{ turn_number: Number(turn_number), input_text: String(input_text), model: String(model) },
    images: imagesIn(input),
  }
}

/** What was said, up to the selected commit. @param {{ project: string, session: string, events: Events, upTo: number | null }} props `upTo`: the newest event that is shown */
export const TalkPanel = ({ project, session, events, upTo }) => {
  const lines = linesIn(eventsTo(events, upTo))
  if (lines.length === 0) return html`<p class="empty">Nothing was said yet.</p>`
  return html`<div class="messages"><${Lines} project=${project} session=${session} lines=${lines} /></div>`
}

/** @param {{ project: string, session?: string, lines: readonly import('./playground/conversation.js').Line[] }} props `session`: whose images are read */
export const Lines = ({ project, session, lines }) =>
  lines.map(
    ({ kind, text, images = [] }, at) =>
      html`<div key=${at} class="said" data-kind=${kind}><${Pictures} images=${images} project=${project} session=${session} />${text !== '' && html`<p>${linked(project, text)}</p>`}</div>`,
  )

/** Cost, tokens, tool calls and time of the loaded part of a log, up to the selected commit. @param {{ events: Events, upTo: number | null }} props */
export const Sums = ({ events, upTo }) => {
  const { cost, unpriced, tokens, tools, errors, ms } = sumsOf(eventsTo(events, upTo))
  const facts = [
    ['Cost', `${dollars(cost)}${unpriced ? ' +' : ''}`],
    ['Tokens', tokens.toLocaleString('en')],
    ['Tool calls', String(tools)],
    ['Errors', String(errors)],
    ['Took', ms === null ? nothing : duration(ms)],
  ]
  return html`<dl class="flex flex-wrap gap-x-26 gap-y-4 px-16 py-8 border-b border-line bg-panel" aria-label="Sums">${facts.map(([name, value]) => html`<div data-tone=${name === 'Errors' && errors > 0 ? 'bad' : undefined}><dt class="text-12 text-soft">${name}</dt><dd class="text-15 font-semibold tabular-nums">${value}</dd></div>`)}</dl>`
}
