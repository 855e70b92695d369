import { h } from './dom.js'
import { firstOf } from './event-log.js'
import { preciseTime } from './format.js'
import { linkedNodes } from './linked-ids.js'

/**
 * @typedef {import('./event-log.js').ActorEvent} ActorEvent
 * @typedef {import('./event-log.js').Entry} Entry
 */

/** How near to its end, in px, a log counts as read to the end: then it stays there when more comes. */
const nearEndPx = 48

/** How near to its beginning, in px, a reader gets what came before. */
const nearStartPx = 400

/**
 * The list of a log's entries; the newest is at the end. It is one stop of the Tab key; Enter shows payloads whole, and makes
 * stops of the ids in them, which are links.
 */
export class LogView {
  element = h('div', {
    class: 'log',
    role: 'log',
    'aria-label': 'Event log',
    tabindex: 0,
    keydown: (event) => this.#onKey(event),
    click: (event) => this.#onClick(event),
    scroll: () => this.element.scrollTop < nearStartPx && this.onStart(),
  })
  /** Called when the reader comes near to the first entry. */
  onStart = () => {}
  #searched = ''
  /** @type {number | null} */
  #standing = null
  /** @type {{ row: HTMLElement, text: Text, range: HTMLElement, parts: HTMLElement } | null} */
  #open = null
  #project

  /** @param {string} project where the ids in payloads lead */
  constructor(project) {
    this.#project = project
  }

  /** @param {readonly Entry[]} entries */
  prepend(entries) {
    const height = this.element.scrollHeight
    this.element.prepend(...entries.map((entry) => this.#rowOf(entry)))
    this.#open = null
    this.element.scrollTop += this.element.scrollHeight - height
  }

  /** @param {Entry} entry */
  append(entry) {
    this.#keepingEnd(() => this.element.append(this.#rowOf(entry)))
  }

  /** Shows entries with this text only. @param {string} text */
  search(text) {
    this.#searched = text.trim().toLowerCase()
    for (const row of this.element.children) this.#mark(row)
  }

  /** Dims what came after this event; null: nothing. @param {number | null} sequence */
  standAt(sequence) {
    this.#standing = sequence
    for (const row of this.element.children) this.#mark(row)
    if (sequence === null) return this.scrollToEnd()
    const last = [...this.element.children].findLast((row) => !row.classList.contains('ahead'))
    last?.scrollIntoView({ block: 'nearest' })
  }

  /** @param {Element} row */
  #mark(row) {
    if (!(row instanceof HTMLElement)) return
    const first = Number(row.dataset.first)
    row.classList.toggle('ahead', this.#standing !== null && first > this.#standing)
    row.hidden = this.#searched !== '' && !(row.textContent ?? '').toLowerCase().includes(this.#searched)
  }

  /** @param {Event} event */
  #onKey(event) {
    if (!(event instanceof KeyboardEvent) || event.key !== 'Enter' || event.target !== this.element) return
    const whole = this.element.classList.toggle('whole')
    for (const link of this.element.querySelectorAll('.payload a')) link.setAttribute('tabindex', whole ? '0' : '-1')
  }

  /** @param {Event} event */
  #onClick({ target }) {
    if (!(target instanceof Element) || target.closest('a') !== null) return
    if (getSelection()?.isCollapsed === false) return
    target.closest('.payload')?.classList.toggle('whole')
  }

  /**
   * The last entry has got more text.
   *
   * @param {Entry} entry
   * @param {ActorEvent} event
   */
  grow(entry, event) {
    const open = this.#open
    if (open === null || open.row !== this.element.lastElementChild) {
      this.element.lastElementChild?.remove()
      this.append(entry)
      return
    }
    this.#keepingEnd(() => {
      open.text.appendData(String(event.payload.delta ?? ''))
      open.range.textContent = rangeOf(entry)
      open.parts.append(partOf(event))
    })
  }

  /** @param {number} count of the oldest rows */
  removeOldest(count) {
    for (let index = 0; index < count; index++) this.element.firstElementChild?.remove()
  }

  scrollToEnd() {
    this.element.scrollTop = this.element.scrollHeight
  }

  /** @param {() => void} change */
  #keepingEnd(change) {
    const { scrollHeight, scrollTop, clientHeight } = this.element
    const atEnd = scrollHeight - scrollTop - clientHeight < nearEndPx
    change()
    if (atEnd) this.scrollToEnd()
  }

  /** @param {Entry} entry */
  #rowOf(entry) {
    const row = entry.kind === 'text' ? this.#textRow(entry) : eventRow(entry.event, this.#project)
    row.dataset.first = String(firstOf(entry))
    this.#mark(row)
    return row
  }

  /** @param {import('./event-log.js').TextEntry} entry */
  #textRow(entry) {
    const [first] = entry.events
    const text = document.createTextNode(entry.text)
    const range = h('span', { class: 'seq' }, rangeOf(entry))
    const parts = h('ol', { class: 'parts' }, ...entry.events.map(partOf))
    const row = h(
      'div',
      { class: 'entry text' },
      headOf(range, 'output_text.delta', first),
      h('p', { class: 'output' }, text),
      h('details', {}, h('summary', {}, 'Single deltas'), parts),
    )
    this.#open = { row, text, range, parts }
    return row
  }
}

/** @param {ActorEvent} event @param {string} project */
const eventRow = (event, project) =>
  h(
    'div',
    { class: 'entry', 'data-event': event.event_type },
    headOf(h('span', { class: 'seq' }, String(event.sequence)), event.event_type, event),
    h('pre', { class: 'payload' }, ...linkedNodes(project, JSON.stringify(event.payload, null, 2))),
  )

/**
 * @param {HTMLElement} sequence
 * @param {string} name
 * @param {ActorEvent | undefined} event
 */
const headOf = (sequence, name, event) =>
  h(
    'div',
    { class: 'entry-head' },
    sequence,
    h('span', { class: 'name' }, name),
    event === undefined || event.turn_number === null
      ? null
      : h('span', { class: 'turn' }, `turn ${event.turn_number}`),
    event === undefined ? null : h('time', { datetime: event.created_at }, preciseTime(event.created_at)),
  )

/** @param {ActorEvent} event */
const partOf = (event) =>
  h('li', {}, h('span', { class: 'seq' }, String(event.sequence)), h('code', {}, JSON.stringify(event.payload.delta)))

/** @param {Entry} entry */
const rangeOf = (entry) => {
  const first = firstOf(entry)
  const last = entry.kind === 'text' ? (entry.events.at(-1)?.sequence ?? first) : first
  return first === last ? String(first) : `${first}–${last}`
}
