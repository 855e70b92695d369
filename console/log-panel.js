import { h } from './dom.js'
import { EventLog } from './event-log.js'
import { preciseTime } from './format.js'
import { dom } from './html.js'
import { LogView } from './log-view.js'

/** @typedef {(after: number, limit: number) => Promise<{ data: readonly ActorEvent[], last_sequence: number }>} ReadEvents */

/** Number of events per read, and maximum number of entries on the page. */
const pageSize = 200
const maxEntries = 10_000
/** Batching window of new events, in ms. */
const gatherMs = 60

/** An actor's growing log, and its newest error. */
export class LogPanel {
  #read
  #report
  #grown
  #log = new EventLog(0)
  #view
  #filling = false
  #again = false
  #earlier = h(
    'button',
    { type: 'button', class: 'quiet', hidden: true, click: () => void this.#readEarlier() },
    'Load earlier',
  )
  /** The newest failure, until a later turn has started; the caller places it. */
  error = h('div', { class: 'log-error', hidden: true })
  #search = h('input', {
    type: 'search',
    'aria-label': 'Search the log',
    placeholder: 'Search',
    input: () => this.#view.search(this.#search.value),
  })
  element = h('div', { class: 'log-panel' }, h('div', { class: 'log-tools' }, this.#search, this.#earlier))

  /** @param {{ project: string, session: string, read: ReadEvents, report: (error: unknown) => void, grown?: () => void }} parts `session`: whose images are read; `grown`: called after events were added */
  constructor({ project, session, read, report, grown = () => {} }) {
    this.#view = new LogView({ project, session })
    this.element.append(this.#view.element)
    this.#read = read
    this.#grown = grown
    this.#report = report
    this.#view.onStart = () => {
      if (!this.#earlier.hidden && !this.#earlier.disabled) void this.#readEarlier()
    }
  }

  /** Sequence of the newest event. */
  get last() {
    return this.#log.last
  }

  /** All loaded events. */
  get events() {
    return this.#log.entries.flatMap((entry) => (entry.kind === 'text' ? entry.events : [entry.event]))
  }

  /** Reads the newest events. @param {number} lastSequence */
  async start(lastSequence) {
    this.#log = new EventLog(Math.max(0, lastSequence - pageSize))
    await this.#readOn()
  }

  scrollToEnd() {
    this.#view.scrollToEnd()
  }

  /** Dims events after this one; null: none. @param {number | null} sequence */
  standAt(sequence) {
    this.#view.standAt(sequence)
  }

  /** Reads new events, after a stream has signalled them: the stream does not contain their times. */
  poke() {
    this.#again = true
    void this.#readOn().catch(this.#report)
  }

  /** @param {ActorEvent} event */
  #take(event) {
    const added = this.#log.add(event)
    const newest = this.#log.entries.at(-1)
    if (newest === undefined || added === 'known' || added === 'hole') return
    this.#showError(event)
    if (added === 'grown') this.#view.grow(newest, event)
    if (added !== 'new') return
    this.#view.append(newest)
    this.#view.removeOldest(this.#log.trim(maxEntries))
    this.#earlier.hidden = this.#log.before === 0
  }

  /** Shows the newest failure above the log until a later turn has started. @param {ActorEvent} event */
  #showError({ event_type, payload, created_at }) {
    if (
      /(^|\.)(turn|run)\.?.*(started|completed)$/.test(event_type) &&
      !event_type.includes('tool') &&
      !event_type.includes('model')
    )
      this.error.hidden = true
    if (!event_type.endsWith('failed')) return
    const error = typeof payload.error === 'object' && payload.error !== null ? payload.error : payload
    const code = String(Reflect.get(error, 'code') ?? event_type)
    this.error.replaceChildren(
      ...dom`<strong>${code}</strong><span>${Reflect.get(error, 'message')}</span><time datetime=${created_at}>${preciseTime(created_at)}</time>`,
    )
    this.error.hidden = false
  }

  /** Reads the log from the last loaded event to its end. */
  async #readOn() {
    if (this.#filling) return
    this.#filling = true
    try {
      for (let more = true; more; ) {
        this.#again = false
        const page = await this.#read(this.#log.last, pageSize)
        for (const event of page.data) this.#take(event)
        if (page.data.length > 0) this.#grown()
        more = this.#again || (page.data.length > 0 && this.#log.last < page.last_sequence)
        if (this.#again) await new Promise((resolve) => setTimeout(resolve, gatherMs))
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
      // the server may answer with fewer than were requested
      for (let after = Math.max(0, before - pageSize); after < before; ) {
        const { data } = await this.#read(after, before - after)
        older.push(...data)
        after = data.at(-1)?.sequence ?? before
      }
      if (this.#log.before === before) this.#view.prepend(this.#log.addBefore(older))
      this.#grown()
      this.#earlier.hidden = this.#log.before === 0
    } catch (error) {
      this.#report(error)
    } finally {
      this.#earlier.disabled = false
    }
  }
}
