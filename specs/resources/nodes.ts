import { dashboardOnly } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { array, boolean, defaulted, integer, nullable, object, string, timestamp } from '../schema.ts'

/** One process of the installation. */
const node = object(
  {
    /** This very process; another one after each start. */
    id: string(),
    /** Name of the node, the same after a restart. */
    name: string(),
    /** Where other nodes reach it; null for a process that runs alone. */
    address: nullable(string()),
    /** It answered this request. */
    current: boolean(),
    /** Whether it has announced itself in the last seconds; null while the directory cannot tell. */
    alive: nullable(boolean()),
    /** It gives its shards away, and takes none. */
    draining: boolean(),
    /** How many of the 256 shards it runs the actors of. */
    shards: integer(),
    /** Actors in its memory; null while the directory cannot tell. */
    live_actors: nullable(integer()),
    running_effects: nullable(integer()),
    started_at: timestamp(),
  },
  { title: 'Node' },
)

/** The processes that the installation consists of, for its operators. */
export const nodes = defineOperations('nodes', {
  list: {
    summary: 'See the nodes of the installation and what runs on them',
    method: 'GET',
    path: '/api/nodes',
    access: dashboardOnly('admin'),
    answer: answersJson(object({ data: array(node) })),
  },
})

/** Actors of a project that are in the memory of any node. */
export const liveActors = defineOperations('live_actors', {
  list: {
    summary: 'See which actors of a project are in memory, and where; a hint that may be some seconds old',
    method: 'GET',
    path: '/api/projects/{project_id}/live-actors',
    access: dashboardOnly('member'),
    query: { limit: defaulted(integer({ min: 1, max: 200 }), 100) },
    answer: answersJson(
      object({
        data: array(object({ id: string(), machine: string(), node: string() }, { title: 'LiveActor' })),
      }),
    ),
  },
})
