import { callApi, metricsText } from '../api.js'
import { machineName, time, toneOf } from '../format.js'
import { html } from '../html.js'
import { ActorLink } from '../linked-ids.js'
import { livePage } from '../live-page.js'
import { nothing, Table } from '../parts/table.js'
import { When } from '../parts/when.js'
import { serverNow } from '../server-time.js'
import { latencyIn } from './commit-latency.js'
import { ShardGrid, takeoversIn } from './shard-grid.js'

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
 * @typedef {{ id: string, paused: boolean, paused_by: string | null, paused_at: string | null, waiting: number, oldest_at: string | null, merged: number, removed: number }} UpkeepTask
 * @typedef {{ id: string, machine: string, node: string }} LiveActor
 * @typedef {import('./shard-grid.js').Shard} Shard
 * @typedef {import('./shard-grid.js').Takeover} Takeover
 * @typedef {{ nodes: readonly InstallationNode[], tasks: readonly UpkeepTask[], actors: readonly LiveActor[], shards: readonly Shard[], takeovers: readonly Takeover[], latency: import('./commit-latency.js').Latency | null }} Shown
 */

const maxActors = 100

/** The nodes of the installation, their shards, the housekeeping, and the live actors of a project. */
export const nodesPage = livePage({
  everyMs: 2_000,
  /** @param {import('../parts/query-form.js').Place} place @param {Shown | null} before @returns {Promise<Shown>} */
  read: async ({ project }, before) => {
    const [nodes, tasks, actors, { data: shards }, metrics] = await Promise.all([
      callApi(null, 'nodes.list'),
      callApi(null, 'upkeep.list'),
      callApi(project, 'live_actors.list', { query: { limit: maxActors } }),
      callApi(null, 'shards.list'),
      metricsText(),
    ])
    const known = { known: before?.takeovers ?? [], at: serverNow().toISOString() }
    return {
      ...{ nodes: nodes.data, tasks: tasks.data, shards, latency: latencyIn(metrics) },
      actors: actors.data.toSorted((/** @type {LiveActor} */ a, /** @type {LiveActor} */ b) => (a.id < b.id ? -1 : 1)),
      takeovers: takeoversIn(before?.shards ?? [], shards, known),
    }
  },
  show: ({ place: { project }, data }) => html`<${Nodes} project=${project} ...${data} />`,
})

/** @param {{ project: string } & Shown} props */
const Nodes = ({ project, nodes, tasks, actors, ...shards }) => html`
  <div class="view-head"><h1>Nodes</h1><span class="muted" role="status">${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}</span></div>
  <section class="panel" aria-label="Nodes">
    <${Table} label="Nodes" columns=${['Node', 'Status', 'Shards', 'Live actors', 'Effects', 'Address', 'Redis', 'Started']} rows=${nodes.map(nodeRow)} />
  </section>
  <section class="panel" aria-label="Shards"><${ShardGrid} nodes=${nodes} ...${shards} /></section>
  <section class="panel" aria-label="Housekeeping">
    <h2>Housekeeping</h2>
    <${Table} label="Housekeeping" columns=${['Task', 'Status', 'Waiting', 'Oldest', 'Merged here', 'Removed here']} rows=${tasks.map(taskRow)} />
  </section>
  <section class="panel" aria-label="Actors in memory">
    <h2>Live actors <span class="muted">of this project</span></h2>
    ${
      actors.length === 0
        ? html`<p class="panel-part muted">No actors of this project are in memory.</p>`
        : html`<${Table} label="Live actors" columns=${['Actor', 'Machine', 'Node']} rows=${actors.map(({ id, machine, node }) => ({ key: id, cells: [html`<${ActorLink} project=${project} id=${id} />`, machineName(machine), node] }))} />`
    }
  </section>
`

/** @param {InstallationNode} node */
const statusOf = ({ alive, draining }) => {
  if (alive === false) return 'not answering'
  return draining ? 'draining' : alive === null ? 'not known' : 'running'
}

/** @param {InstallationNode} node */
const nodeRow = (node) => ({
  key: node.id,
  cells: [
    html`<span title=${node.id}>${node.name}</span>${node.current && html` <span class="muted">(this one)</span>`}`,
    html`<span class="chip" data-tone=${toneOf(statusOf(node))}>${statusOf(node)}</span>`,
    String(node.shards),
    node.live_actors ?? nothing,
    node.running_effects ?? nothing,
    node.address ?? nothing,
    node.redis ?? nothing,
    html`<${When} at=${node.started_at} />`,
  ],
})

/** One housekeeping task, and since when and by whom it is paused. @param {UpkeepTask} task */
const taskRow = ({ id, paused, paused_by, paused_at, waiting, oldest_at, merged, removed }) => ({
  key: id,
  cells: [
    id,
    html`<span class="chip" data-tone=${paused ? 'wait' : 'work'}>${paused ? 'paused' : 'running'}</span>${paused && html` <span class="muted">since ${time(paused_at ?? '')} by ${paused_by ?? 'unknown'}</span>`}`,
    String(waiting),
    html`<${When} at=${oldest_at} />`,
    String(merged),
    String(removed),
  ],
})
