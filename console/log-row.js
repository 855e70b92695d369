import { h } from './dom.js'
import { firstOf } from './event-log.js'
import { preciseTime } from './format.js'
import { dom, html, render } from './html.js'
import { linkedNodes } from './linked-ids.js'
import { Pictures } from './parts/pictures.js'
import { imagesIn } from './parts/turn-input.js'
import { jsonText } from './parts/turned-text.js'
import { isFailure } from './tool-failure.js'

/**
 * @typedef {import('./event-log.js').Entry} Entry
 * @typedef {{ project: string, session: string }} LogPlace `project`: of the actors that ids in payloads link to; `session`: whose images are read, '' for none
 * @typedef {{ element: HTMLElement, grow: (event: ActorEvent) => void }} LogRow
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
 * @param {Entry} entry
 * @param {LogPlace} place
 * @returns {LogRow}
 */
export const rowOf = (entry, place) => {
  const { cell, grow } = entry.kind === 'text' ? textCell(entry) : eventCell(entry.event, place)
  const given =
    entry.kind === 'text'
      ? { class: 'entry text' }
      : { class: 'entry', 'data-event': entry.event.event_type, 'data-failed': isFailure(entry.event) || undefined }
  const element = h('div', { ...given, role: 'row', 'aria-rowindex': firstOf(entry) }, cell)
  return { element, grow }
}

/** @param {ActorEvent} event @param {LogPlace} place */
const eventCell = (event, place) => {
  const cell = dom`<div role="cell">
    ${headOf(dom`<span class="seq">${event.sequence}</span>`, event.event_type, event)}
    <pre class="payload">${linkedNodes(place.project, jsonText(event.payload, 2))}</pre>
  </div>`
  const images = imagesIn(event.payload.input)
  if (images.length > 0) {
    const pictures = h('div')
    render(html`<${Pictures} images=${images} ...${place} />`, pictures)
    cell.append(pictures)
  }
  return { cell, grow: () => {} }
}

/** @param {import('./event-log.js').TextEntry} entry */
const textCell = (entry) => {
  const text = document.createTextNode(entry.text)
  const range = h('span', { class: 'seq' }, rangeOf(entry))
  const parts = h('ol', { class: 'parts' })
  // a long answer has thousands of deltas, which few users open
  const toggle = () => details.open && parts.childElementCount === 0 && parts.append(...entry.events.map(partOf))
  const details = h('details', { toggle: () => void toggle() }, h('summary', {}, 'Single deltas'), parts)
  const [first] = entry.events
  return {
    cell: dom`<div role="cell">${headOf(range, 'output_text.delta', first)}<p class="output">${text}</p>${details}</div>`,
    grow: (/** @type {ActorEvent} */ event) => {
      text.appendData(String(event.payload.delta ?? ''))
      range.textContent = rangeOf(entry)
      if (parts.childElementCount > 0) parts.append(partOf(event))
    },
  }
}

/** @param {HTMLElement} sequence @param {string} name @param {ActorEvent | undefined} event */
const headOf = (sequence, name, event) =>
  dom`<div class="entry-head">
    ${sequence}<span class="name">${name}</span>
    ${event && event.turn_number !== null && dom`<span class="turn">turn ${event.turn_number}</span>`}
    ${event && dom`<time datetime=${event.created_at}>${preciseTime(event.created_at)}</time>`}
  </div>`

/** @param {ActorEvent} event */
const partOf = (event) =>
  dom`<li><span class="seq">${event.sequence}</span><code>${jsonText(event.payload.delta)}</code></li>`

/** @param {Entry} entry */
const rangeOf = (entry) => {
  const first = firstOf(entry)
  const last = entry.kind === 'text' ? (entry.events.at(-1)?.sequence ?? first) : first
  return first === last ? String(first) : `${first}–${last}`
}
