import { dashboardOnly } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { array, boolean, defaulted, described, integer, nullable, object, string, timestamp } from '../dsl/schema.ts'

/** A server process of the installation. */
const node = object(
  {
    id: string({ description: 'Id of the process. It changes with each start.' }),
    name: string({ description: 'Name of the node. It stays the same after a restart.' }),
    address: nullable(string({ description: 'Address at which other nodes reach it; null for a single node.' })),
    current: described(boolean(), 'Whether this node answered the request.'),
    alive: described(
      nullable(boolean()),
      'Whether the node sent a heartbeat within the last seconds; null if unknown.',
    ),
    draining: described(boolean(), 'Whether the node is handing over its shards before it shuts down.'),
    shards: integer({ description: 'Number of shards that the node owns.' }),
    live_actors: nullable(integer({ description: 'Number of actors in memory; null if unknown.' })),
    running_effects: nullable(integer({ description: 'Number of effects in progress; null if unknown.' })),
    redis: nullable(
      string({
        description:
          'The Redis that the node is connected to, and which of its servers do not answer; null for a single node, or if unknown.',
      }),
    ),
    started_at: described(timestamp(), 'Time at which the process started.'),
  },
  { title: 'Node', description: 'A server process of the installation.' },
)

/** A shard, with the node that runs its actors. */
const shard = object(
  {
    shard: integer({ description: 'Number of the shard, from 0. The id of an actor determines its shard.' }),
    node: described(
      nullable(string()),
      'Id of the process that owns the shard. Null if the shard is free to be claimed.',
    ),
    epoch: described(
      integer(),
      'Fencing number that increases each time a process claims the shard. 0 if a single process owns all shards.',
    ),
    expires_in_ms: described(
      nullable(integer()),
      'Milliseconds until the lease expires unless it is renewed. Null if there is no lease.',
    ),
  },
  { title: 'Shard', description: 'A partition of all actors, owned by one process at a time.' },
)

/** Server processes of the installation, for operators. */
export const nodes = defineOperations('nodes', {
  list: {
    summary: 'List the nodes of the installation',
    description: 'Returns each node with the number of its shards, actors and running effects.',
    method: 'GET',
    path: '/api/nodes',
    access: dashboardOnly('admin'),
    answer: isJsonResponse(object({ data: array(node) })),
  },
})

/** Shards of all actors, for operators. */
export const shards = defineOperations('shards', {
  list: {
    summary: 'List the shards of the installation',
    description:
      'Returns all shards in numeric order (1,024, or 256 if an earlier release has used the store), with the process that owns each. The list may be up to a second old.',
    method: 'GET',
    path: '/api/shards',
    access: dashboardOnly('admin'),
    answer: isJsonResponse(object({ data: array(shard) })),
  },
})

/** Actors of a project that are in the memory of a node. */
export const liveActors = defineOperations('live_actors', {
  list: {
    summary: 'List the actors of a project in memory',
    description: 'Returns each actor with its node. The list may be a few seconds old.',
    method: 'GET',
    path: '/api/projects/{project_id}/live-actors',
    access: dashboardOnly('member'),
    query: { limit: defaulted(integer({ min: 1, max: 200 }), 100) },
    answer: isJsonResponse(
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
