import { projectActors, projectSessions } from '#specs/resources/actors.ts'
import { liveActors, nodes as nodeOperations } from '#specs/resources/nodes.ts'
import { stuck } from '#specs/resources/stuck.ts'
import { capability } from '../capability/capability.ts'
import type { House } from '../capability/house.ts'
import { stuckRows } from '../runtime/stuck/stuck.ts'
import { actorViewUseCases } from './actor-use-cases.ts'
import { nodeUseCases } from './node-use-cases.ts'
import type { Nodes } from './nodes.ts'
import { openNodes } from './open-nodes.ts'
import { stuckUseCases } from './stuck-use-cases.ts'

/** What operators see of a running installation. */
export const operators = capability({
  name: 'operators',
  operations: { ...projectSessions, ...projectActors, ...nodeOperations, ...liveActors, ...stuck },
  kinds: [stuckRows],
  open: (house) => {
    const nodes = nodesOf(house)
    return { useCases: { ...actorViewUseCases({ ...house, nodes }), ...nodeUseCases(nodes), ...stuckUseCases(house) } }
  },
})

/** The process knows itself among the nodes once its runtime has started. */
const nodesOf = ({ runtime, cluster, clock }: House): Nodes => {
  const opened = runtime.then((started) => openNodes(started, cluster, clock))
  opened.catch(() => {})
  return {
    list: async () => (await opened).list(),
    liveActors: async (project, limit) => (await opened).liveActors(project, limit),
    runnerOf: async (actor) => (await opened).runnerOf(actor),
  }
}
