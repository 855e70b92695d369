import { chip } from './actor-facts.js'
import { callApi, metricsText } from './api.js'
import { cell, h } from './dom.js'
import { time } from './format.js'
import { html, render } from './html.js'
import { latencyIn } from './nodes/commit-latency.js'
import { ShardGrid, takeoversIn } from './nodes/shard-grid.js'
import { Refreshing } from './refreshing.js'
import { routeHash } from './route.js'
import { serverNow } from './server-time.js'
import { upkeepHead, upkeepRow } from './upkeep-table.js'

/**
 * @typedef {object} InstallationNode
 * @property {string} id
 * @property {string} name
 * @property {string | null} address
 * @property {boolean} current
 * @property {boolean | null} alive
 * @property {boolean} draining
 * @property {number} shards
 * @property {number | null} live_actors
 * @property {number | null} running_effects
 * @property {string | null} redis
 * @property {string} started_at
 * @typedef {{ id: string, machine: string, node: string }} LiveActor
 * @typedef {import('./upkeep-table.js').UpkeepTask} UpkeepTask
 */

const refreshMs = 2000
const maxActors = 100

/** The nodes of the installation and the live actors of a project, refreshed regularly. */
export class NodesView {
  element = h('div', { class: 'sessions nodes' })
  #project
  #summary = h('span', { class: 'muted', role: 'status' })
  #nodes = h('tbody')
  #actors = h('tbody')
  #upkeep = h('tbody')
  #shards = h('div')
  /** @type {readonly import('./nodes/shard-grid.js').Shard[]} */
  #known = []
  /** @type {readonly import('./nodes/shard-grid.js').Takeover[]} */
  #takeovers = []
  #actorsTable = h('table', { hidden: true })
  #noActors = h('p', { class: 'empty' }, 'No actors of this project are in memory.')
  #shown = ''
  #refreshing

  /**
   * @param {string} project
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor(project, report) {
    this.#project = project
    this.#refreshing = new Refreshing(() => this.#refresh(), refreshMs, report)
    const columns = ['Node', 'Status', 'Shards', 'Live actors', 'Effects', 'Address', 'Redis', 'Started']
    this.#actorsTable.append(head(['Actor', 'Machine', 'Node']), this.#actors)
    this.element.append(
      h('div', { class: 'view-head' }, h('h1', {}, 'Nodes'), this.#summary),
      h('table', { 'aria-label': 'Nodes' }, head(columns), this.#nodes),
      this.#shards,
      h('div', { class: 'view-head' }, h('h2', {}, 'Housekeeping')),
      h('table', { 'aria-label': 'Housekeeping' }, upkeepHead(), this.#upkeep),
      h('div', { class: 'view-head' }, h('h2', {}, 'Live actors')),
      this.#actorsTable,
      this.#noActors,
    )
    this.#actorsTable.setAttribute('aria-label', 'Live actors')
  }

  /** @throws {import('./api.js').ApiError} when the first read fails */
  start() {
    return this.#refreshing.start()
  }

  shown() {}

  stop() {
    this.#refreshing.stop()
    render(null, this.#shards)
  }

  async #refresh() {
    /** @type {[{ data: readonly InstallationNode[] }, { data: readonly UpkeepTask[] }, { data: readonly LiveActor[] }, { data: readonly import('./nodes/shard-grid.js').Shard[] }, string]} */
    const [nodes, upkeep, actors, shards, metrics] = await Promise.all([
      callApi(null, 'nodes.list'),
      callApi(null, 'upkeep.list'),
      callApi(this.#project, 'live_actors.list', { query: { limit: maxActors } }),
      callApi(null, 'shards.list'),
      metricsText(),
    ])
    if (this.#refreshing.stopped) return
    this.#takeovers = takeoversIn(this.#known, shards.data, { known: this.#takeovers, at: serverNow().toISOString() })
    this.#known = shards.data
    const parts = { nodes: nodes.data, shards: shards.data, takeovers: this.#takeovers, latency: latencyIn(metrics) }
    render(html`<${ShardGrid} ...${parts} />`, this.#shards)
    const sorted = actors.data.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const text = JSON.stringify([nodes.data, upkeep.data, sorted])
    if (this.#refreshing.stopped || text === this.#shown) return
    this.#shown = text
    this.#upkeep.replaceChildren(...upkeep.data.map(upkeepRow))
    this.#show(nodes.data, sorted)
  }

  /** @param {readonly InstallationNode[]} nodes @param {readonly LiveActor[]} actors */
  #show(nodes, actors) {
    const focused = document.activeElement?.getAttribute('href')
    this.#nodes.replaceChildren(...nodes.map(nodeRow))
    this.#actors.replaceChildren(...actors.map((actor) => actorRow(this.#project, actor)))
    if (focused) [...this.#actors.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus()
    this.#summary.textContent = `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`
    this.#actorsTable.hidden = actors.length === 0
    this.#noActors.hidden = actors.length > 0
  }
}

/** @param {readonly string[]} columns */
const head = (columns) => h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name))))

/** @param {InstallationNode} node */
const statusOf = ({ alive, draining }) => {
  if (alive === false) return 'not answering'
  return draining ? 'draining' : alive === null ? 'not known' : 'running'
}

/** @param {InstallationNode} node */
const nodeRow = (node) =>
  h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row', title: node.id },
      node.name,
      node.current ? h('span', { class: 'muted' }, ' (this one)') : null,
    ),
    cell('Status', chip(statusOf(node))),
    cell('Shards', String(node.shards)),
    cell('Live actors', known(node.live_actors)),
    cell('Effects', known(node.running_effects)),
    cell('Address', node.address ?? '–'),
    cell('Redis', node.redis ?? '–'),
    cell('Started', time(node.started_at)),
  )

/** @param {string} project @param {LiveActor} actor */
const actorRow = (project, { id, machine, node }) =>
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, h('a', { href: routeHash({ view: 'actor', project, id }) }, id)),
    cell('Machine', machine),
    cell('Node', node),
  )

/** @param {number | null} count */
const known = (count) => (count === null ? '–' : String(count))
