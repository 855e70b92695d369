import { h } from './dom.ts'
import { type Entry, firstOf, lastOf } from './event-log.ts'
import { html, render } from './html.ts'
import { type LogPlace, LogRow, textOf } from './log-row.ts'
import { rowsWithin, topOf } from './row-window.ts'

/** Distance from the end in px within which a log counts as read to the end, and stays there when entries are added. */
const nearEndPx = 48
/** Distance from the beginning in px within which earlier entries are loaded. */
const nearStartPx = 400
/** Maximum number of entries for which all rows are on the page, so that the browser's own search finds them. */
const wholeUpTo = 300
/** Margin in px rendered above and below the visible part. */
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
      ...{
        class: 'log flex-1 min-h-0 overflow-auto max-wide:max-h-[85vh] bg-panel [overflow-anchor:none]',
        ...{ role: 'log', 'aria-label': 'Event log', tabindex: 0 },
      },
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
  #entries: readonly Entry[] = []
  /** Entries that match the search. */
  #shown: readonly Entry[] = []
  /** Entries that are on the page. */
  #mounted: readonly Entry[] = []
  #searched = ''
  /** Searchable texts. */
  #texts: WeakMap<Entry, { last: number; text: string }> = new WeakMap()
  #standing: number | null = null
  #atEnd = true
  /** The first visible row, and its distance above the visible part in px. */
  #anchor: { entry: Entry; by: number } | null = null
  #top = 0
  #drawing = 0
  #everything = false
  #place
  #sizes = new ResizeObserver(() => this.#draw())

  constructor(place: LogPlace) {
    this.#place = place
    this.#sizes.observe(this.element)
    this.#sizes.observe(this.#rows)
  }

  /** Shows these entries, in one redraw before the next frame, however often it is called until then. */
  show(entries: readonly Entry[]) {
    this.#entries = entries
    this.#shown = this.#searched === '' ? entries : entries.filter((entry) => this.#fits(entry))
    if (this.#drawing === 0) this.#drawing = requestAnimationFrame(() => this.#draw())
  }

  /** Shows only entries that contain this text. */
  search(text: string) {
    this.#searched = text.trim().toLowerCase()
    this.element.classList.toggle('searched', this.#searched !== '')
    this.show(this.#entries)
  }

  /** Dims entries after this event; null: none. */
  standAt(sequence: number | null) {
    this.#standing = sequence
    if (sequence === null) return this.scrollToEnd()
    this.#reveal(this.#shown.findLastIndex((entry) => firstOf(entry) <= sequence))
    this.#draw()
  }

  scrollToEnd() {
    this.#atEnd = true
    this.#draw()
  }

  #fits(entry: Entry) {
    const last = lastOf(entry)
    const known = this.#texts.get(entry)
    const text = known?.last === last ? known.text : textOf(entry).toLowerCase()
    this.#texts.set(entry, { last, text })
    return text.includes(this.#searched)
  }

  /** Renders the visible rows, and keeps the scroll position relative to their content. */
  #draw() {
    cancelAnimationFrame(this.#drawing)
    this.#drawing = 0
    const { clientHeight } = this.element
    if (clientHeight === 0 && this.#shown.length > wholeUpTo) return
    // newly measured rows move the rows after them
    for (let round = 0; round < 3; round++) if (!this.#mount(clientHeight)) break
    const top = Math.round(this.#wantedTop(clientHeight))
    if (Math.abs(this.element.scrollTop - top) >= 1) this.element.scrollTop = top
    this.#top = this.element.scrollTop
    const stands = this.#anchor !== null && this.#shown.includes(this.#anchor.entry)
    if (!this.#atEnd && !stands) this.#anchor = this.#anchorAt(this.#top)
    const newest = this.#entries.at(-1)
    this.#rows.setAttribute('aria-rowcount', String(newest === undefined ? 0 : lastOf(newest)))
    // rows that appear because of scrolling must not be announced
    this.element.setAttribute('aria-live', this.#atEnd ? 'polite' : 'off')
  }

  /** @returns whether the height of a row differs from the assumed one */
  #mount(clientHeight: number): boolean {
    const { first, end } = this.#range(this.#wantedTop(clientHeight), clientHeight)
    this.#mounted = this.#shown.slice(first, end)
    const hadFocus = this.#rows.contains(document.activeElement)
    render(
      this.#mounted.map((entry) => {
        const isAhead = this.#standing !== null && firstOf(entry) > this.#standing
        return html`<${LogRow} key=${firstOf(entry)} entry=${entry} place=${this.#place} isAhead=${isAhead} />`
      }),
      this.#rows,
    )
    if (hadFocus && !this.#rows.contains(document.activeElement)) this.element.focus({ preventScroll: true })
    this.#linkStops()
    this.#rows.style.paddingTop = `${topOf(this.#shown, first)}px`
    this.#rows.style.paddingBottom = `${topOf(this.#shown, this.#shown.length) - topOf(this.#shown, end)}px`
    if (clientHeight === 0) return false
    let changed = false
    for (const [index, entry] of this.#mounted.entries()) {
      const { height = 0 } = this.#rows.children[index]?.getBoundingClientRect() ?? {}
      changed ||= Math.abs(height - (entry.height ?? 0)) >= 0.5
      entry.height = height
    }
    return changed
  }

  #wantedTop(clientHeight: number) {
    const max = Math.max(0, topOf(this.#shown, this.#shown.length) - clientHeight)
    if (this.#atEnd) return max
    const index = this.#anchor === null ? -1 : this.#shown.indexOf(this.#anchor.entry)
    const top = index < 0 ? this.element.scrollTop : topOf(this.#shown, index) + (this.#anchor?.by ?? 0)
    return Math.min(max, Math.max(0, top))
  }

  #range(top: number, clientHeight: number) {
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
      const entry = this.#entryWith(node)
      const index = entry === undefined ? -1 : this.#shown.indexOf(entry)
      return index < 0 ? [] : [index]
    })
  }

  /** The entry whose row has this node. */
  #entryWith(node: Node | null) {
    return this.#mounted[[...this.#rows.children].findIndex((row) => row.contains(node))]
  }

  /** Scrolls a row into view if necessary. */
  #reveal(index: number) {
    const entry = this.#shown[index]
    if (entry === undefined) return
    const { clientHeight } = this.element
    const [top, bottom] = [topOf(this.#shown, index), topOf(this.#shown, index + 1)]
    if (top >= this.#top && bottom <= this.#top + clientHeight) return
    this.#atEnd = false
    this.#anchor = { entry, by: top < this.#top ? 0 : Math.min(0, bottom - top - clientHeight) }
  }

  #anchorAt(top: number) {
    const { first } = rowsWithin(this.#shown, top, top + 1)
    const entry = this.#shown[first]
    return entry === undefined ? null : { entry, by: top - topOf(this.#shown, first) }
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

  #onKey(event: Event) {
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
    this.#linkStops()
  }

  /** Shows all of a payload, or its first lines. */
  #onClick({ target }: Event) {
    if (!(target instanceof Element) || target.closest('a') !== null || target.closest('.payload') === null) return
    const entry = this.#entryWith(target)
    if (entry === undefined || getSelection()?.isCollapsed === false) return
    entry.isWhole = entry.isWhole !== true
    this.#draw()
  }

  #linkStops() {
    const stop = this.element.classList.contains('whole') ? '0' : '-1'
    for (const link of this.#rows.querySelectorAll('.payload a, .pictures :is(a, button)'))
      link.setAttribute('tabindex', stop)
  }

  /** Selects the whole log, including rows that are not on the page. */
  #select(everything: boolean) {
    if (everything) getSelection()?.selectAllChildren(this.#rows)
    this.#everything = everything
    this.#rows.classList.toggle('everything', everything)
  }

  #onCopy(event: Event) {
    if (!this.#everything || !(event instanceof ClipboardEvent) || event.clipboardData === null) return
    event.preventDefault()
    event.clipboardData.setData('text/plain', this.#shown.map(textOf).join('\n'))
  }
}
