import { callApi, metricsText } from '../api.js'
import { machineName, serverNow } from '../format.js'
import { html } from '../html.js'
import { ActorLink } from '../linked-ids.js'
import { livePage } from '../live-page.js'
import { TablePanel } from '../parts/panel.js'
import { Rows } from '../resources/row-panel.js'
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
  show: ({ place, data, done }) => html`<${Nodes} place=${place} ...${data} done=${done} />`,
})

/** @param {{ place: Place, done: () => void } & Shown} props */
const Nodes = ({ place, nodes, tasks, actors, done, ...shards }) => html`
  <div class="view-head"><h1>Nodes</h1><span class="muted" role="status">${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}</span></div>
  <section class="panel" aria-label="Processes"><h2>Processes</h2><${Rows} place=${place} name="nodes" rows=${nodes} done=${done} /></section>
  <section class="panel" aria-label="Shards"><${ShardGrid} nodes=${nodes} ...${shards} /></section>
  <section class="panel" aria-label="Upkeep"><h2>Upkeep</h2><${Rows} place=${place} name="upkeep" rows=${tasks} done=${done} /></section>
  <${TablePanel} label="Actors in memory" table="Live actors" head=${html`Live actors <span class="muted">of this project</span>`} empty="No actors of this project are in memory." columns=${actorColumns(place.project)} rows=${actors} />
`

/** @param {string} project @returns {Columns<LiveActor>} */
const actorColumns = (project) => ({
  Actor: ({ id }) => html`<${ActorLink} project=${project} id=${id} />`,
  Machine: ({ machine }) => machineName(machine),
  Node: ({ node }) => node,
})
