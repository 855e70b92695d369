import { dashboardOnly } from '../access.ts'
import { answersJson } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { array, boolean, defaulted, described, integer, nullable, object, string, timestamp } from '../dsl/schema.ts'

/** A server process of the installation. */
const node = object(
  {
    id: string({ description: 'Id of the process; a new one after each start.' }),
    name: string({ description: 'Name of the node, the same after a restart.' }),
    address: nullable(string({ description: 'Address for other nodes; null for a single node.' })),
    current: described(boolean(), 'Whether this node answered the request.'),
    alive: described(nullable(boolean()), 'Whether the node was seen in the last seconds; null while that is unknown.'),
    draining: described(boolean(), 'Whether the node is handing its shards over.'),
    shards: integer({ description: 'Number of shards that the node runs, of 256.' }),
    live_actors: nullable(integer({ description: 'Actors in memory; null while the number is unknown.' })),
    running_effects: nullable(integer({ description: 'Effects in progress; null while the number is unknown.' })),
    started_at: described(timestamp(), 'Start of the process.'),
  },
  { title: 'Node', description: 'A server process of the installation.' },
)

/** Server processes of the installation, for its operators. */
export const nodes = defineOperations('nodes', {
  list: {
    summary: 'List the nodes of the installation',
    description: 'With their shards, actors and effects.',
    method: 'GET',
    path: '/api/nodes',
    access: dashboardOnly('admin'),
    answer: answersJson(object({ data: array(node) })),
  },
})

/** Actors of a project in the memory of any node. */
export const liveActors = defineOperations('live_actors', {
  list: {
    summary: 'List the actors of a project in memory',
    description: 'With the node of each. The list may be some seconds old.',
    method: 'GET',
    path: '/api/projects/{project_id}/live-actors',
    access: dashboardOnly('member'),
    query: { limit: defaulted(integer({ min: 1, max: 200 }), 100) },
    answer: answersJson(
      object({
        data: array(
          object(
            { id: string(), machine: string(), node: string() },
            { title: 'LiveActor', description: 'An actor in the memory of a node.' },
          ),
        ),
      }),
    ),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly nodes: typeof nodes
    readonly liveActors: typeof liveActors
  }
}
