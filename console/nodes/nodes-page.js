import { callApi, metricsText } from '../api.js'
import { machineName, serverNow, time, toneOf } from '../format.js'
import { html } from '../html.js'
import { ActorLink } from '../linked-ids.js'
import { livePage } from '../live-page.js'
import { nothing, When } from '../parts/cells.js'
import { TablePanel } from '../parts/panel.js'
import { latencyIn } from './commit-latency.js'
import { ShardGrid, takeoversIn } from './shard-grid.js'

/**
 * @typedef {import('../answers.js').Node} InstallationNode
 * @typedef {import('../answers.js').UpkeepTask} UpkeepTask
 * @typedef {import('../answers.js').LiveActor} LiveActor
 * @typedef {import('./shard-grid.js').Shard} Shard
 * @typedef {import('./shard-grid.js').Takeover} Takeover
 * @typedef {{ nodes: readonly InstallationNode[], tasks: readonly UpkeepTask[], actors: readonly LiveActor[], shards: readonly Shard[], takeovers: readonly Takeover[], latency: import('./commit-latency.js').Latency | null }} Shown
 */

const maxActors = 100

/** The nodes of the installation, their shards, the housekeeping, and the live actors of a project. */
export const nodesPage = livePage({
  everyMs: 2_000,
  /** @param {Place} place @param {Shown | null} before @returns {Promise<Shown>} */
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
      actors: actors.data.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      takeovers: takeoversIn(before?.shards ?? [], shards, known),
    }
  },
  show: ({ place: { project }, data }) => html`<${Nodes} project=${project} ...${data} />`,
})

/** @param {{ project: string } & Shown} props */
const Nodes = ({ project, nodes, tasks, actors, ...shards }) => html`
  <div class="view-head"><h1>Nodes</h1><span class="muted" role="status">${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}</span></div>
  <${TablePanel} label="Nodes" columns=${nodeColumns} rows=${nodes} />
  <section class="panel" aria-label="Shards"><${ShardGrid} nodes=${nodes} ...${shards} /></section>
  <${TablePanel} label="Housekeeping" head="Housekeeping" columns=${taskColumns} rows=${tasks} />
  <${TablePanel} label="Actors in memory" table="Live actors" head=${html`Live actors <span class="muted">of this project</span>`} empty="No actors of this project are in memory." columns=${actorColumns(project)} rows=${actors} />
`

/** @param {InstallationNode} node */
const statusOf = ({ alive, draining }) => {
  if (alive === false) return 'not answering'
  return draining ? 'draining' : alive === null ? 'not known' : 'running'
}

/** @type {Columns<InstallationNode>} */
const nodeColumns = {
  Node: ({ id, name, current }) =>
    html`<span title=${id}>${name}</span>${current && html` <span class="muted">(this one)</span>`}`,
  Status: (node) => html`<span class="chip" data-tone=${toneOf(statusOf(node))}>${statusOf(node)}</span>`,
  Shards: ({ shards }) => String(shards),
  'Live actors': ({ live_actors }) => live_actors ?? nothing,
  Effects: ({ running_effects }) => running_effects ?? nothing,
  Address: ({ address }) => address ?? nothing,
  Redis: ({ redis }) => redis ?? nothing,
  Started: ({ started_at }) => html`<${When} at=${started_at} />`,
}

/** Housekeeping tasks, and since when and by whom each is paused. @type {Columns<UpkeepTask>} */
const taskColumns = {
  Task: ({ id }) => id,
  Status: ({ paused, paused_by, paused_at }) =>
    html`<span class="chip" data-tone=${paused ? 'wait' : 'work'}>${paused ? 'paused' : 'running'}</span>${paused && html` <span class="muted">since ${time(paused_at ?? '')} by ${paused_by ?? 'unknown'}</span>`}`,
  Waiting: ({ waiting }) => String(waiting),
  Oldest: ({ oldest_at }) => html`<${When} at=${oldest_at} />`,
  'Merged here': ({ merged }) => String(merged),
  'Removed here': ({ removed }) => String(removed),
}

/** @param {string} project @returns {Columns<LiveActor>} */
const actorColumns = (project) => ({
  Actor: ({ id }) => html`<${ActorLink} project=${project} id=${id} />`,
  Machine: ({ machine }) => machineName(machine),
  Node: ({ node }) => node,
})
