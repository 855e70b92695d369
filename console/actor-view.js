import { chip, factList, relatedList, stateOf } from './actor-facts.js'
import { ApiError, get, projectPath } from './api.js'
import { Chart } from './chart.js'
import { h } from './dom.js'
import { EventLog } from './event-log.js'
import { follow } from './follow.js'
import { LogView } from './log-view.js'
import { routeHash } from './route.js'

/**
 * @typedef {import('./actor-facts.js').Actor} Actor
 * @typedef {import('./event-log.js').ActorEvent} ActorEvent
 */

/** Events in one read of the log. */
const pageSize = 200
/** Entries that are kept on the page. */
const mostEntries = 1500
/** The least time between two looks at the state, and the most, in ms: some transitions make no event. */
const lookEveryMs = 200
const lookAtLeastEveryMs = 2000

/** One actor: its live chart and its log. */
export class ActorView {
  element = h('div', { class: 'actor' })
  #project
  #id
  #report
  #state = h('span', { class: 'state-now', role: 'status' })
  #stream = h('span', { class: 'stream', role: 'status' })
  #waiting = h('div', { class: 'waiting' })
  #facts = h('div', { class: 'details' })
  #chartBox = h('div', { class: 'chart-box', tabindex: 0, role: 'group', 'aria-label': 'State chart' })
  #earlier = h(
    'button',
    { type: 'button', class: 'quiet', hidden: true, click: () => void this.#readEarlier() },
    'Load earlier',
  )
  #logView = new LogView()
  #log = new EventLog(0)
  /** @type {Chart | null} */
  #chart = null
  #stopped = false
  #looking = false
  #lookAgain = false
  #filling = false
  #timer = 0
  #unfollow = () => {}

  /**
   * @param {string} project
   * @param {string} id
   * @param {(error: unknown) => void} report told of trouble, and with null when it is over
   */
  constructor(project, id, report) {
    this.#project = project
    this.#id = id
    this.#report = report
  }

  /** Reads the actor and its newest events, then follows. @throws {ApiError} */
  async start() {
    const actor = await get(this.#path())
    const layout = await get(`/charts/${encodeURIComponent(actor.machine)}.layout.json`)
    this.#chart = new Chart(layout)
    this.#log = new EventLog(Math.max(0, actor.last_sequence - pageSize))
    this.#fill(actor)
    this.#show(actor)
    await this.#readOn()
    if (this.#stopped) return
    this.#look()
    this.#unfollow = follow({
      url: () => `${this.#path('stream')}?after=${this.#log.last}`,
      onEvent: (event) => this.#take(event),
      onStatus: (status) => {
        this.#stream.textContent = status
        this.#stream.dataset.status = status
      },
      mayRetry: () => this.#isThere(),
    })
  }

  /** Called when the element has its place on the page. */
  shown() {
    this.#logView.scrollToEnd()
    this.#showActiveState()
  }

  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  /** @param {...string} parts */
  #path(...parts) {
    return projectPath(this.#project, 'actors', this.#id, ...parts)
  }

  /** @param {Actor} actor */
  #fill(actor) {
    const list = routeHash({ view: 'sessions', project: this.#project, status: '', page: 1 })
    this.element.replaceChildren(
      h(
        'div',
        { class: 'view-head' },
        h('nav', { 'aria-label': 'Breadcrumb' }, h('a', { href: list }, 'Sessions')),
        h('h1', {}, actor.id),
        this.#state,
        this.#stream,
      ),
      h('section', { class: 'left', 'aria-label': 'State' }, this.#waiting, this.#chartBox, this.#facts),
      h('section', { class: 'right', 'aria-label': 'Log' }, this.#earlier, this.#logView.element),
    )
    if (this.#chart !== null) this.#chartBox.replaceChildren(this.#chart.element)
  }

  /** @param {Actor} actor */
  #show(actor) {
    const state = stateOf(actor)
    if (this.#state.textContent !== state) this.#state.replaceChildren(chip(state))
    this.#chart?.light(actor.active)
    const focused = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.href : null
    const parked = actor.parked === null ? null : h('p', { class: 'parked' }, `Parked: ${actor.parked}`)
    this.#waiting.replaceChildren(...[parked, relatedList(this.#project, actor)].filter((part) => part !== null))
    this.#facts.replaceChildren(factList(actor))
    if (focused !== null) [...this.#waiting.querySelectorAll('a')].find(({ href }) => href === focused)?.focus()
  }

  /** On a narrow screen the chart is wider than its box. */
  #showActiveState() {
    const box = this.#chart?.activeBox()
    if (!box) return
    const { left, width } = this.#chartBox.getBoundingClientRect()
    this.#chartBox.scrollLeft += box.left + box.width / 2 - (left + width / 2)
  }

  /** @param {ActorEvent} event */
  #take(event) {
    this.#add(event)
    this.#look()
  }

  /** @param {ActorEvent} event */
  #add(event) {
    const added = this.#log.add(event)
    if (added === 'hole') void this.#readOn().catch(this.#report)
    const newest = this.#log.entries.at(-1)
    if (newest === undefined) return
    if (added === 'grown') this.#logView.grow(newest, event)
    if (added !== 'new') return
    this.#logView.append(newest)
    this.#logView.removeOldest(this.#log.trim(mostEntries))
    this.#earlier.hidden = this.#log.before === 0
  }

  /** Reads the log from the last event on, to its end. */
  async #readOn() {
    if (this.#filling) return
    this.#filling = true
    try {
      for (let more = true; more && !this.#stopped; ) {
        const page = await this.#page(this.#log.last, pageSize)
        for (const event of page.data) this.#add(event)
        more = page.data.length > 0 && this.#log.last < page.last_sequence
      }
    } finally {
      this.#filling = false
    }
    this.#earlier.hidden = this.#log.before === 0
  }

  async #readEarlier() {
    const { before } = this.#log
    /** @type {ActorEvent[]} */
    const older = []
    this.#earlier.disabled = true
    try {
      // the server may answer with fewer than were asked for
      for (let after = Math.max(0, before - pageSize); after < before; ) {
        const { data } = await this.#page(after, before - after)
        older.push(...data)
        after = data.at(-1)?.sequence ?? before
      }
      if (this.#log.before === before) this.#logView.prepend(this.#log.addBefore(older))
      this.#earlier.hidden = this.#log.before === 0
    } catch (error) {
      this.#report(error)
    } finally {
      this.#earlier.disabled = false
    }
  }

  /**
   * @param {number} after
   * @param {number} limit
   * @returns {Promise<{ data: readonly ActorEvent[], last_sequence: number }>}
   */
  #page(after, limit) {
    return get(`${this.#path('events')}?after=${after}&limit=${limit}`)
  }

  /** Looks at the state soon, and again after a while. */
  #look() {
    if (this.#looking) {
      this.#lookAgain = true
      return
    }
    void this.#lookNow()
  }

  async #lookNow() {
    clearTimeout(this.#timer)
    this.#looking = true
    this.#lookAgain = false
    await this.#isThere()
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    this.#looking = false
    if (this.#stopped) return
    if (this.#lookAgain) this.#look()
    else this.#timer = setTimeout(() => this.#lookWhenSeen(), lookAtLeastEveryMs)
  }

  #lookWhenSeen() {
    if (document.visibilityState === 'visible') this.#look()
    else document.addEventListener('visibilitychange', () => this.#look(), { once: true })
  }

  /** Shows the state as it is now. @returns {Promise<boolean>} whether it is worth looking again */
  async #isThere() {
    try {
      const actor = await get(this.#path())
      if (!this.#stopped) this.#show(actor)
      this.#report(null)
      return !this.#stopped
    } catch (error) {
      if (this.#stopped) return false
      this.#report(error)
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 401)
      if (gone) this.stop()
      return !gone
    }
  }
}
