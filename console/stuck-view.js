import { chip } from './actor-facts.js'
import { callApi } from './api.js'
import { cell, h } from './dom.js'
import { time } from './format.js'
import { Refreshing } from './refreshing.js'
import { routeHash } from './route.js'

/**
 * @typedef {object} StuckWork
 * @property {string} id
 * @property {string} kind
 * @property {string} actor_id
 * @property {string} machine
 * @property {string} subject
 * @property {string} reason
 * @property {number} attempts
 * @property {string} updated_at
 */

const refreshMs = 2000
const max = 100

/** Label of each kind, and whether its machine can be given another event instead. */
const kinds = /** @type {Readonly<Record<string, { text: string, skips: boolean }>>} */ ({
  parked_actor: { text: 'parked', skips: true },
  poison_message: { text: 'message refused', skips: false },
  poison_result: { text: 'result refused', skips: true },
  refused_row: { text: 'row refused', skips: false },
  failing_reminder: { text: 'reminder fails', skips: true },
  overdue_effect: { text: 'overdue', skips: true },
  unfinished_commit: { text: 'not finished', skips: false },
})

/** Stuck work of a project, with the decisions that an operator can make about it. */
export class StuckView {
  element = h('div', { class: 'sessions stuck' })
  #project
  #report
  #reason = h('input', {
    'aria-label': 'Reason, for the audit log',
    placeholder: 'Reason, for the audit log',
    maxlength: 4096,
  })
  #summary = h('span', { class: 'muted', role: 'status' })
  #rows = h('tbody')
  #table = h('table', { 'aria-label': 'Stuck work', hidden: true })
  #nothing = h('p', { class: 'empty' }, 'Nothing is stuck.')
  #shown = ''
  #refreshing

  /**
   * @param {string} project
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor(project, report) {
    this.#project = project
    this.#report = report
    this.#refreshing = new Refreshing(() => this.#refresh(), refreshMs, report)
    const columns = ['Actor', 'Kind', 'Reason', 'Attempts', 'Since', 'Actions']
    const head = h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name))))
    this.#table.append(head, this.#rows)
    this.element.append(
      h('div', { class: 'view-head' }, h('h1', {}, 'Stuck work'), this.#summary, this.#reason),
      this.#table,
      this.#nothing,
    )
  }

  /** @throws {import('./api.js').ApiError} when the first read fails */
  start() {
    return this.#refreshing.start()
  }

  shown() {}

  stop() {
    this.#refreshing.stop()
  }

  async #refresh() {
    /** @type {{ data: readonly StuckWork[], next_cursor: string | null }} */
    const { data, next_cursor } = await callApi(this.#project, 'stuck.list', { query: { limit: max } })
    const text = JSON.stringify(data)
    if (this.#refreshing.stopped || text === this.#shown) return
    this.#shown = text
    this.#rows.replaceChildren(...data.map((work) => this.#row(work)))
    this.#summary.textContent = data.length === 0 ? '' : `${data.length}${next_cursor === null ? '' : ' and more'}`
    this.#table.hidden = data.length === 0
    this.#nothing.hidden = data.length > 0
  }

  /** @param {StuckWork} work */
  #row(work) {
    const { kind, actor_id, machine, reason, attempts, updated_at } = work
    const { text, skips } = kinds[kind] ?? { text: kind, skips: false }
    const link = h('a', { href: routeHash({ view: 'actor', project: this.#project, id: actor_id }) }, actor_id)
    const buttons = [
      this.#button('Retry', () => this.#decide(work, 'retry')),
      ...(skips ? [this.#button('Skip…', () => this.#skip(work))] : []),
      this.#button('Discard', () => this.#discard(work)),
    ]
    return h(
      'tr',
      {},
      h('th', { scope: 'row', title: machine }, link),
      cell('Kind', chip(text)),
      cell('Reason', reason),
      cell('Attempts', String(attempts)),
      cell('Since', time(updated_at)),
      cell('Actions', h('span', { class: 'decide' }, ...buttons)),
    )
  }

  /** @param {string} name @param {() => Promise<void>} act */
  #button(name, act) {
    /** @param {Event} event */
    const click = ({ currentTarget }) => {
      if (!(currentTarget instanceof HTMLButtonElement)) return
      currentTarget.disabled = true
      void act().catch((error) => {
        currentTarget.disabled = false
        this.#report(error)
      })
    }
    return h('button', { type: 'button', class: 'quiet', click }, name)
  }

  /** @param {StuckWork} work */
  async #skip(work) {
    const text = prompt(`The event for ${work.machine} in place of ${work.subject}, as JSON:`, '{"type": ""}')
    if (text === null) return this.#again()
    await this.#decide(work, 'skip', { event: JSON.parse(text) })
  }

  /** @param {StuckWork} work */
  async #discard(work) {
    if (!confirm(`Discard ${work.subject}? This cannot be undone.`)) return this.#again()
    await this.#decide(work, 'discard')
  }

  /** @param {StuckWork} work @param {'retry' | 'skip' | 'discard'} verb @param {object} [body] */
  async #decide({ id }, verb, body) {
    const why = this.#reason.value === '' ? {} : { reason: this.#reason.value }
    await callApi(this.#project, `stuck.${verb}`, { params: { stuck_id: id }, body: { ...body, ...why } })
    await this.#again()
  }

  async #again() {
    this.#shown = ''
    await this.#refresh()
  }
}
