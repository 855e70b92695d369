import { h } from './dom.js'
import { firstOf } from './event-log.js'
import { rowOf, textOf } from './log-row.js'
import { rowsWithin, topOf } from './row-window.js'

/**
 * @typedef {import('./event-log.js').Entry} Entry
 * @typedef {{ entry: Entry, height: number, row: import('./log-row.js').LogRow | null, text: string | null, whole: boolean }} Item
 *   `row`: null while it is not on the page; `text`: searchable text, built on demand; `whole`: its payload is expanded
 */

/** Distance from the end in px within which a log counts as read to the end, and stays there when entries are added. */
const nearEndPx = 48
/** Distance from the beginning in px within which earlier entries are loaded. */
const nearStartPx = 400
/** Maximum number of entries for which all rows are on the page, so that the browser's own search finds them. */
const wholeUpTo = 300
/** Assumed height in px of a row that has not been measured, and the margin in px rendered above and below the visible part. */
const guessedPx = 100
const aroundPx = 600
/** Maximum number of selected rows that are kept on the page. */
const maxSelected = 2000

/**
 * The list of a log's entries, the newest last. Of a long log, only visible rows are on the page. The list is one stop
 * of the Tab key; Enter expands all payloads, and makes the ids in them, which are links, tab stops.
 */
export class LogView {
  #rows = h('div', { class: 'rows', role: 'table', 'aria-label': 'Events' })
  element = h(
    'div',
    {
      ...{ class: 'log', role: 'log', 'aria-label': 'Event log', tabindex: 0 },
      keydown: (event) => this.#onKey(event),
      click: (event) => this.#onClick(event),
      copy: (event) => this.#onCopy(event),
      pointerdown: () => this.#select(false),
      scroll: () => this.#onScroll(),
    },
    this.#rows,
  )
  /** Called when the user scrolls near the first entry. */
  onStart = () => {}
  /** @type {Item[]} */
  #items = []
  /** Items that match the search. @type {readonly Item[]} */
  #shown = this.#items
  /** Items that are on the page. @type {Map<Element, Item>} */
  #mounted = new Map()
  #searched = ''
  /** @type {number | null} */
  #standing = null
  #atEnd = true
  /** The first visible row, and its distance above the visible part in px. @type {{ item: Item, by: number } | null} */
  #anchor = null
  #top = 0
  #drawing = 0
  #everything = false
  #source
  #sizes = new ResizeObserver(() => this.#draw())

  /** @param {import('./log-row.js').LogPlace} place */
  constructor(place) {
    this.#source = place
    this.#sizes.observe(this.element)
  }

  /** @param {readonly Entry[]} entries */
  prepend(entries) {
    this.#items.unshift(...entries.map(itemOf))
    this.#filter()
  }

  /** @param {Entry} entry */
  append(entry) {
    const item = itemOf(entry)
    this.#items.push(item)
    if (this.#searched === '') this.#drawSoon()
    else if (this.#fits(item)) this.#show([...this.#shown, item])
  }

  /** Shows only entries that contain this text. @param {string} text */
  search(text) {
    this.#searched = text.trim().toLowerCase()
    this.element.classList.toggle('searched', this.#searched !== '')
    this.#filter()
  }

  /** Dims entries after this event; null: none. @param {number | null} sequence */
  standAt(sequence) {
    this.#standing = sequence
    for (const item of this.#mounted.values()) this.#dim(item)
    if (sequence === null) return this.scrollToEnd()
    const index = this.#shown.findLastIndex(({ entry }) => firstOf(entry) <= sequence)
    if (index >= 0) this.#reveal(index)
  }

  /** Updates the last entry, which has more text. @param {Entry} entry @param {ActorEvent} event */
  grow(entry, event) {
    const item = this.#items.at(-1)
    if (item?.entry !== entry) return this.append(entry)
    item.text = null
    item.row?.grow(event)
    if (this.#searched !== '' && this.#shown.at(-1) !== item && this.#fits(item)) this.#show([...this.#shown, item])
  }

  /** @param {number} count number of rows to remove */
  removeOldest(count) {
    if (count === 0) return
    this.#items.splice(0, count)
    if (this.#searched !== '') this.#filter()
    else this.#drawSoon()
  }

  scrollToEnd() {
    this.#atEnd = true
    this.#draw()
  }

  #filter() {
    this.#show(this.#searched === '' ? this.#items : this.#items.filter((item) => this.#fits(item)))
  }

  /** @param {Item} item */
  #fits(item) {
    item.text ??= textOf(item.entry).toLowerCase()
    return item.text.includes(this.#searched)
  }

  /** @param {readonly Item[]} items */
  #show(items) {
    this.#shown = items
    this.#drawSoon()
  }

  /** Schedules one redraw before the next frame, however many events arrive until then. */
  #drawSoon() {
    if (this.#drawing === 0) this.#drawing = requestAnimationFrame(() => this.#draw())
  }

  /** Renders the visible rows, and keeps the scroll position relative to their content. */
  #draw() {
    cancelAnimationFrame(this.#drawing)
    this.#drawing = 0
    const { clientHeight } = this.element
    if (clientHeight === 0 && this.#shown.length > wholeUpTo) return
    // newly measured rows move the rows after them
    for (let round = 0; round < 3; round++) if (!this.#place(clientHeight)) break
    const top = Math.round(this.#wantedTop(clientHeight))
    if (Math.abs(this.element.scrollTop - top) >= 1) this.element.scrollTop = top
    this.#top = this.element.scrollTop
    const stands = this.#anchor !== null && this.#shown.includes(this.#anchor.item)
    if (!this.#atEnd && !stands) this.#anchor = this.#anchorAt(this.#top)
    this.#rows.setAttribute('aria-rowcount', String(this.#lastSequence()))
    // rows that appear because of scrolling must not be announced
    this.element.setAttribute('aria-live', this.#atEnd ? 'polite' : 'off')
  }

  /** @param {number} clientHeight @returns {boolean} whether the height of a row differs from the assumed one */
  #place(clientHeight) {
    const top = this.#wantedTop(clientHeight)
    const { first, end } = this.#range(top, clientHeight)
    this.#mount(this.#shown.slice(first, end))
    this.#rows.style.paddingTop = `${topOf(this.#shown, first)}px`
    this.#rows.style.paddingBottom = `${topOf(this.#shown, this.#shown.length) - topOf(this.#shown, end)}px`
    if (clientHeight === 0) return false
    let changed = false
    for (const [element, item] of this.#mounted) {
      const { height } = element.getBoundingClientRect()
      if (Math.abs(height - item.height) < 0.5) continue
      item.height = height
      changed = true
    }
    return changed
  }

  /** @param {number} clientHeight */
  #wantedTop(clientHeight) {
    const max = Math.max(0, topOf(this.#shown, this.#shown.length) - clientHeight)
    if (this.#atEnd) return max
    const index = this.#anchor === null ? -1 : this.#shown.indexOf(this.#anchor.item)
    const top =
      index < 0 || this.#anchor === null ? this.element.scrollTop : topOf(this.#shown, index) + this.#anchor.by
    return Math.min(max, Math.max(0, top))
  }

  /** @param {number} top @param {number} clientHeight */
  #range(top, clientHeight) {
    if (this.#shown.length <= wholeUpTo) return { first: 0, end: this.#shown.length }
    const { first, end } = rowsWithin(this.#shown, top - aroundPx, top + clientHeight + aroundPx)
    const selected = this.#selected()
    const wide = { first: Math.min(first, ...selected), end: Math.max(end, ...selected.map((index) => index + 1)) }
    return wide.end - wide.first > maxSelected ? { first, end } : wide
  }

  /** Rows in which the selection starts and ends: everything in between has to be on the page to be copied. */
  #selected() {
    const selection = getSelection()
    if (selection === null || selection.isCollapsed || this.#everything) return []
    return [selection.anchorNode, selection.focusNode].flatMap((node) => {
      const element = (node instanceof Element ? node : (node?.parentElement ?? null))?.closest('.entry')
      const item = element ? this.#mounted.get(element) : undefined
      const index = item === undefined ? -1 : this.#shown.indexOf(item)
      return index < 0 ? [] : [index]
    })
  }

  /** @param {readonly Item[]} items in display order */
  #mount(items) {
    const wanted = new Set(items)
    for (const [element, item] of this.#mounted) if (!wanted.has(item)) this.#unmount(element, item)
    let before = this.#rows.firstElementChild
    for (const item of items) {
      if (item.row !== null && item.row.element === before) before = before.nextElementSibling
      else this.#rows.insertBefore(this.#elementOf(item), before)
    }
  }

  /** @param {Item} item */
  #elementOf(item) {
    if (item.row !== null) return item.row.element
    item.row = rowOf(item.entry, this.#source)
    const { element } = item.row
    this.#mounted.set(element, item)
    this.#sizes.observe(element)
    this.#dim(item)
    element.querySelector('.payload')?.classList.toggle('whole', item.whole)
    this.#linkStops(element)
    return element
  }

  /** @param {Element} element @param {Item} item */
  #unmount(element, item) {
    if (element.contains(document.activeElement)) this.element.focus({ preventScroll: true })
    this.#sizes.unobserve(element)
    this.#mounted.delete(element)
    item.row = null
    element.remove()
  }

  /** @param {Item} item */
  #dim({ entry, row }) {
    row?.element.classList.toggle('ahead', this.#standing !== null && firstOf(entry) > this.#standing)
  }

  /** Scrolls a row into view if necessary. @param {number} index */
  #reveal(index) {
    const item = this.#shown[index]
    if (item === undefined) return
    const { clientHeight } = this.element
    const [top, bottom] = [topOf(this.#shown, index), topOf(this.#shown, index + 1)]
    if (top >= this.#top && bottom <= this.#top + clientHeight) return
    this.#atEnd = false
    this.#anchor = { item, by: top < this.#top ? 0 : Math.min(0, item.height - clientHeight) }
    this.#draw()
  }

  /** @param {number} top @returns {{ item: Item, by: number } | null} */
  #anchorAt(top) {
    const { first } = rowsWithin(this.#shown, top, top + 1)
    const item = this.#shown[first]
    return item === undefined ? null : { item, by: top - topOf(this.#shown, first) }
  }

  #onScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.element
    // added entries move the end away, which is not scrolling by the user
    if (scrollTop < this.#top - 1) this.#atEnd = false
    else if (scrollTop > this.#top + 1) this.#atEnd = scrollHeight - scrollTop - clientHeight < nearEndPx
    if (Math.abs(scrollTop - this.#top) >= 1) this.#anchor = this.#anchorAt(scrollTop)
    this.#top = scrollTop
    this.#draw()
    if (scrollTop < nearStartPx) this.onStart()
  }

  /** @param {Event} event */
  #onKey(event) {
    if (!(event instanceof KeyboardEvent)) return
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a') {
      event.preventDefault()
      this.#select(true)
    }
    if (event.target !== this.element) return
    // the browser would use assumed heights
    if (event.key === 'End' || event.key === 'Home') {
      event.preventDefault()
      this.#atEnd = event.key === 'End'
      this.#anchor = this.#anchorAt(0)
      this.#draw()
    }
    if (event.key !== 'Enter') return
    this.element.classList.toggle('whole')
    this.#linkStops(this.element)
  }

  /** @param {Element} within */
  #linkStops(within) {
    const whole = this.element.classList.contains('whole')
    for (const link of within.querySelectorAll('.payload a, .pictures :is(a, button)'))
      link.setAttribute('tabindex', whole ? '0' : '-1')
  }

  /** @param {Event} event */
  #onClick({ target }) {
    if (!(target instanceof Element) || target.closest('a') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const payload = target.closest('.payload')
    const item = this.#mounted.get(target.closest('.entry') ?? target)
    if (payload && item) item.whole = payload.classList.toggle('whole')
  }

  /** Selects the whole log, including rows that are not on the page. @param {boolean} everything */
  #select(everything) {
    if (everything) getSelection()?.selectAllChildren(this.#rows)
    this.#everything = everything
    this.#rows.classList.toggle('everything', everything)
  }

  /** @param {Event} event */
  #onCopy(event) {
    if (!this.#everything || !(event instanceof ClipboardEvent) || event.clipboardData === null) return
    event.preventDefault()
    event.clipboardData.setData('text/plain', this.#shown.map(({ entry }) => textOf(entry)).join('\n'))
  }

  #lastSequence() {
    const entry = this.#items.at(-1)?.entry
    if (entry === undefined) return 0
    return entry.kind === 'text' ? (entry.events.at(-1)?.sequence ?? 0) : entry.event.sequence
  }
}

/** @param {Entry} entry @returns {Item} */
const itemOf = (entry) => ({ entry, height: guessedPx, row: null, text: null, whole: false })
