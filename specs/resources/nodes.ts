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

/** Who runs which actors. */
const shard = object(
  {
    shard: integer({ description: 'Number of the shard, from 0 to 255. An actor belongs to one by its id.' }),
    node: described(nullable(string()), 'Id of the process that runs it. Null: no process does, and any may take it.'),
    epoch: described(
      integer(),
      'A number that rises each time that a process takes the shard. 0 where a single process runs all.',
    ),
    expires_in_ms: described(
      nullable(integer()),
      'Milliseconds until the lease runs out unless it is renewed. Null: there is none.',
    ),
  },
  { title: 'Shard', description: 'A part of all actors, which one process runs at a time.' },
)

/** Server processes of the installation, for its operators. */
export const nodes = defineOperations('nodes', {
  list: {
    summary: 'List the nodes of the installation',
    description: 'Returns each node with its shards, actors and effects.',
    method: 'GET',
    path: '/api/nodes',
    access: dashboardOnly('admin'),
    answer: answersJson(object({ data: array(node) })),
  },
})

/** Parts of all actors, for the operators of the installation. */
export const shards = defineOperations('shards', {
  list: {
    summary: 'List the shards of the installation',
    description: 'All 256 in their order, with the process that runs each. The list may be a second old.',
    method: 'GET',
    path: '/api/shards',
    access: dashboardOnly('admin'),
    answer: answersJson(object({ data: array(shard) })),
  },
})

/** Actors of a project in the memory of any node. */
export const liveActors = defineOperations('live_actors', {
  list: {
    summary: 'List the actors of a project in memory',
    description: 'Returns each actor with its node. The list may be a few seconds old.',
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
    readonly shards: typeof shards
    readonly liveActors: typeof liveActors
  }
}
