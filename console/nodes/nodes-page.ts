import type { Node as InstallationNode, LiveActor, Shard, UpkeepTask } from '../answers.d.ts'
import { callApi, metricsText } from '../api.ts'
import { machineName, serverNow } from '../format.ts'
import { html } from '../html.ts'
import { ActorLink } from '../linked-ids.ts'
import { livePage } from '../live-page.ts'
import { TablePanel } from '../parts/panel.ts'
import { Rows } from '../resources/row-panel.ts'
import { type Latency, latencyIn } from './commit-latency.ts'
import { ShardGrid, type Takeover, takeoversIn } from './shard-grid.ts'

interface Shown {
  readonly nodes: readonly InstallationNode[]
  readonly tasks: readonly UpkeepTask[]
  readonly actors: readonly LiveActor[]
  readonly shards: readonly Shard[]
  readonly takeovers: readonly Takeover[]
  readonly latency: Latency
}

const maxActors = 100

/** The nodes of the installation, their shards, the housekeeping, and the live actors of a project. */
export const nodesPage = livePage({
  everyMs: 2_000,
  read: async ({ project }: Place, before: Shown | null): Promise<Shown> => {
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

const Nodes = ({ place, nodes, tasks, actors, done, ...shards }: Props & Shown) => html`
  <div class="view-head"><h1>Nodes</h1><span class="muted" role="status">${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}</span></div>
  <${Rows} whole place=${place} name="nodes" rows=${nodes} done=${done} />
  <section class="panel" aria-label="Shards"><${ShardGrid} nodes=${nodes} ...${shards} /></section>
  <${Rows} whole place=${place} name="upkeep" rows=${tasks} done=${done} />
  <${TablePanel} label="Actors in memory" table="Live actors" head=${html`Live actors <span class="muted">of this project</span>`} empty="No actors of this project are in memory." columns=${actorColumns(place.project)} rows=${actors} />
`

const actorColumns = (project: string): Columns<LiveActor> => ({
  Actor: ({ id }) => html`<${ActorLink} project=${project} id=${id} />`,
  Machine: ({ machine }) => machineName(machine),
  Node: ({ node }) => node,
})
