import type { Moment } from './commands.ts'
import { dollars, duration } from './format.ts'
import { html } from './html.ts'
import { linked } from './linked-ids.ts'
import { nothing } from './parts/cells.ts'
import { Pictures } from './parts/pictures.ts'
import { imagesIn } from './parts/turn-input.ts'
import { type Line, linesIn } from './playground/conversation.ts'
import { type Events, sumsOf } from './sums.ts'

/** Whether an actor has a conversation. */
export const hasTalk = ({ machine }: { machine: string }) => machine === 'session' || machine === 'run'

/** The events up to a commit; null: all. */
const eventsTo = (events: Events, upTo: number | null) =>
  upTo === null ? events : events.filter(({ sequence }) => sequence <= upTo)

/** The turn of a session that started last, up to a commit; null when the loaded events have none. */
export const turnAt = (events: Events, upTo: number | null): Moment['turn'] => {
  const payload = eventsTo(events, upTo).findLast(({ event_type }) => event_type === 'turn.started')?.payload
  if (payload === undefined) return null
  const { turn_number, input_text = '', input, model } = payload
  return {
    ...{ turn_number: Number(turn_number), input_text: String(input_text), model: String(model) },
    images: imagesIn(input),
  }
}

/** What was said, up to the selected commit. @param props `upTo`: the newest event that is shown */
export const TalkPanel = ({ project, session, events, upTo }: Props & { session: string }) => {
  const lines = linesIn(eventsTo(events, upTo))
  if (lines.length === 0) return html`<p class="empty">Nothing was said yet.</p>`
  return html`<div class="messages"><${Lines} project=${project} session=${session} lines=${lines} /></div>`
}

/** @param props `session`: whose images are read */
export const Lines = ({ project, session, lines }: { project: string; session?: string; lines: readonly Line[] }) =>
  lines.map(
    ({ kind, text, images = [] }, at) =>
      html`<div key=${at} class="said" data-kind=${kind}><${Pictures} images=${images} project=${project} session=${session} />${text !== '' && html`<p>${linked(project, text)}</p>`}</div>`,
  )

/** Cost, tokens, tool calls and time of the loaded part of a log, up to the selected commit. */
export const Sums = ({ events, upTo }: Props) => {
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
