import { firstOf, lastOf } from './event-log.js'
import { preciseTime } from './format.js'
import { html, useMemo, useRef, useState } from './html.js'
import { linkedIds } from './linked-ids.js'
import { Pictures } from './parts/pictures.js'
import { imagesIn } from './parts/turn-input.js'
import { jsonText } from './parts/turned-text.js'
import { isFailure } from './tool-failure.js'

/**
 * @typedef {import('./event-log.js').Entry} Entry
 * @typedef {{ project: string, session: string }} LogPlace `project`: of the actors that ids in payloads link to; `session`: whose images are read, '' for none
 */

/** An entry as text, for searching and copying. @param {Entry} entry */
export const textOf = (entry) => {
  const [event, name, body] =
    entry.kind === 'text'
      ? [entry.events[0], 'output_text.delta', entry.text]
      : [entry.event, entry.event.event_type, jsonText(entry.event.payload, 2)]
  const turn = event?.turn_number ?? null
  const time = event === undefined ? '' : preciseTime(event.created_at)
  return `${rangeOf(entry)} ${name}${turn === null ? '' : ` turn ${turn}`} ${time}\n${body}`
}

/**
 * An entry as a row of the log's table. Its row index is its first event's sequence, which does not change when older
 * rows are added.
 *
 * @param {{ entry: Entry, place: LogPlace, isAhead: boolean }} props `isAhead`: it is after the selected commit
 */
export const LogRow = ({ entry, place, isAhead }) => {
  const event = entry.kind === 'text' ? undefined : entry.event
  const name = `entry ${isAhead ? 'ahead' : ''}`
  return html`<div class=${name} role="row" aria-rowindex=${firstOf(entry)} data-event=${event?.event_type} data-failed=${(event && isFailure(event)) || undefined}>
    ${entry.kind === 'text' ? html`<${TextCell} entry=${entry} />` : html`<${EventCell} entry=${entry} place=${place} />`}
  </div>`
}

/** @param {{ entry: import('./event-log.js').EventEntry, place: LogPlace }} props */
const EventCell = ({ entry, place }) => {
  const { event } = entry
  const text = useMemo(() => linkedIds(place.project, jsonText(event.payload, 2)), [event])
  return html`<div role="cell">
    <${Head} range=${String(event.sequence)} name=${event.event_type} event=${event} />
    <pre class=${`payload underlined ${entry.isWhole ? 'whole' : ''}`}>${text}</pre>
    <${Pictures} images=${imagesIn(event.payload.input)} ...${place} />
  </div>`
}

/** @param {{ entry: import('./event-log.js').TextEntry }} props */
const TextCell = ({ entry }) => {
  const [isOpen, setOpen] = useState(false)
  // a long answer has thousands of deltas, which few users open; each is made once
  const parts = useRef(/** @type {unknown[]} */ ([]))
  if (isOpen) parts.current.push(...entry.events.slice(parts.current.length).map(partOf))
  const toggle = (/** @type {Event} */ { currentTarget }) =>
    setOpen(currentTarget instanceof HTMLDetailsElement && currentTarget.open)
  return html`<div role="cell">
    <${Head} range=${rangeOf(entry)} name="output_text.delta" event=${entry.events[0]} />
    <p class="output my-4 px-10 py-6 border-l-2 border-work bg-page whitespace-pre-wrap wrap-anywhere">${entry.text}</p>
    <details onToggle=${toggle}><summary>Single deltas</summary><ol>${[...parts.current]}</ol></details>
  </div>`
}

/** @param {{ range: string, name: string, event: ActorEvent | undefined }} props */
const Head = ({ range, name, event }) =>
  html`<div class="entry-head grid grid-cols-[minmax(2.6em,max-content)_1fr_auto_auto] items-baseline gap-10 [font:var(--code)]">
    <span class="seq">${range}</span><span class="name font-semibold">${name}</span>
    ${event && event.turn_number !== null && html`<span class="turn">turn ${event.turn_number}</span>`}
    ${event && html`<time datetime=${event.created_at}>${preciseTime(event.created_at)}</time>`}
  </div>`

/** @param {ActorEvent} event */
const partOf = (event) =>
  html`<li class="flex gap-10 text-soft"><span class="seq">${event.sequence}</span><code class="text-[11.5px] whitespace-pre-wrap wrap-anywhere">${jsonText(event.payload.delta)}</code></li>`

/** @param {Entry} entry */
const rangeOf = (entry) => {
  const [first, last] = [firstOf(entry), lastOf(entry)]
  return first === last ? String(first) : `${first}–${last}`
}
