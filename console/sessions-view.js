import { chip } from './actor-facts.js'
import { get, projectPath } from './api.js'
import { cell, h } from './dom.js'
import { dollars, time } from './format.js'
import { Refreshing } from './refreshing.js'
import { routeHash, statuses } from './route.js'

/**
 * @typedef {import('./route.js').SessionsRoute & { project: string }} SessionsPlace
 * @typedef {{ id: string, status: string, turn_count: number, total_cost: number, agent_id: string | null, created_at: string, updated_at: string }} Session
 * @typedef {{ data: readonly Session[], pagination: { page: number, total: number, total_pages: number } }} Page
 */

const pageSize = 25
const refreshMs = 3000

/** The sessions of a project, kept up to date. */
export class SessionsView {
  element = h('div', { class: 'sessions' })
  #place
  #summary = h('span', { class: 'muted', role: 'status' })
  #rows = h('tbody')
  #empty = h('div', { class: 'empty', hidden: true })
  #pages = h('nav', { class: 'pages', 'aria-label': 'Pages', hidden: true })
  #shown = ''
  #refreshing

  /**
   * @param {SessionsPlace} place
   * @param {(error: unknown) => void} report told of trouble, and with null when it is over
   */
  constructor(place, report) {
    this.#place = place
    this.#refreshing = new Refreshing(() => this.#refresh(), refreshMs, report)
    const columns = ['Session', 'Status', 'Turns', 'Cost', 'Agent', 'Created', 'Updated']
    const head = h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)))
    this.element.append(
      h('div', { class: 'view-head' }, h('h1', {}, 'Sessions'), filter(place), this.#summary),
      h('table', {}, h('thead', {}, head), this.#rows),
      this.#empty,
      this.#pages,
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
    const { project, status, page } = this.#place
    const search = new URLSearchParams({ page: String(page), limit: String(pageSize), ...(status && { status }) })
    /** @type {Page} */
    const found = await get(`${projectPath(project, 'sessions')}?${search}`)
    const text = JSON.stringify(found)
    if (this.#refreshing.stopped || text === this.#shown) return
    this.#shown = text
    this.#show(found)
  }

  /** @param {Page} page */
  #show({ data, pagination }) {
    const focused = document.activeElement?.getAttribute('href')
    this.#rows.replaceChildren(...data.map((session) => row(this.#place.project, session)))
    if (focused) [...this.#rows.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus()
    const { total } = pagination
    this.#summary.textContent = `${total} ${total === 1 ? 'session' : 'sessions'}`
    this.#empty.hidden = data.length > 0
    this.#empty.replaceChildren(...hint(this.#place, total))
    this.#pages.hidden = pagination.total_pages < 2
    this.#pages.replaceChildren(...pageLinks(this.#place, pagination.total_pages))
  }
}

/** @param {SessionsPlace} place */
const filter = (place) =>
  h(
    'nav',
    { class: 'filter', 'aria-label': 'Status' },
    ...statuses.map((status) =>
      h(
        'a',
        {
          href: routeHash({ ...place, status, page: 1 }),
          'aria-current': status === place.status ? 'true' : undefined,
        },
        status || 'all',
      ),
    ),
  )

/**
 * @param {string} project
 * @param {Session} session
 */
const row = (project, session) => {
  const link = h('a', { href: routeHash({ view: 'actor', project, id: session.id }) }, session.id)
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, link),
    cell('Status', chip(session.status)),
    cell('Turns', String(session.turn_count)),
    cell('Cost', dollars(session.total_cost)),
    cell('Agent', session.agent_id ?? '–'),
    cell('Created', time(session.created_at)),
    cell('Updated', time(session.updated_at)),
  )
}

/**
 * @param {SessionsPlace} place
 * @param {number} total
 * @returns {Node[]}
 */
const hint = (place, total) => {
  if (total > 0) return [h('p', {}, 'This page has no sessions any more.')]
  if (place.status !== '') return [h('p', {}, `No session is ${place.status}.`)]
  const command = `curl -X POST ${location.origin}/v1/sessions \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" -d '{}'`
  return [h('p', {}, 'No sessions yet. Start one with a secret key of this project:'), h('pre', {}, command)]
}

/**
 * @param {SessionsPlace} place
 * @param {number} pages
 * @returns {Node[]}
 */
const pageLinks = (place, pages) => {
  /** @param {number} page @param {string} label */
  const link = (page, label) =>
    page < 1 || page > pages
      ? h('span', { class: 'muted' }, label)
      : h('a', { href: routeHash({ ...place, page }), rel: label === 'Newer' ? 'prev' : 'next' }, label)
  return [link(place.page - 1, 'Newer'), h('span', {}, `Page ${place.page} of ${pages}`), link(place.page + 1, 'Older')]
}
