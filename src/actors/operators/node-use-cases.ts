import type { ResultOf } from '#specs/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Nodes, NodeView } from './nodes.ts'

/** Use-cases of the processes of the installation, their shards and live actors. */
export const nodeUseCases = (nodes: Nodes): Pick<UseCases, 'nodes.list' | 'shards.list' | 'live_actors.list'> => ({
  'nodes.list': async () => ({ data: (await nodes.list()).map(shownNode) }),
  'shards.list': async () => ({
    data: (await nodes.shards()).map(({ shard, process, epoch, leftMs }) => ({
      ...{ shard, node: process, epoch, expires_in_ms: leftMs },
    })),
  }),
  'live_actors.list': async ({ params, query }) => {
    const found = await nodes.liveActors(params.project_id, query.limit)
    return { data: found.map(({ actor, machine, node }) => ({ id: actor, machine, node })) }
  },
})

const shownNode = (view: NodeView): ResultOf<'nodes.list'>['data'][number] => ({
  id: view.process,
  name: view.node,
  address: view.address,
  current: view.current,
  alive: view.alive,
  draining: view.draining,
  shards: view.shards,
  live_actors: view.facts?.liveActors ?? null,
  running_effects: view.facts?.runningEffects ?? null,
  redis: view.redis,
  started_at: new Date(view.startedAt).toISOString(),
})
