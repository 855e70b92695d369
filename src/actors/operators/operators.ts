import { projectActors, projectSessions } from '#specs/resources/actors.ts'
import { liveActors, nodes as nodeOperations, shards } from '#specs/resources/nodes.ts'
import { stuck } from '#specs/resources/stuck.ts'
import { upkeep } from '#specs/resources/upkeep.ts'
import { capability } from '../capability/capability.ts'
import { Port } from '../capability/port.ts'
import type { Services } from '../capability/services.ts'
import type { AnyKind } from '../records/schema.ts'
import { endedStreams, stuckRows, upkeepRows } from '../runtime/internal.ts'
import { actorViewUseCases } from './actor-use-cases.ts'
import { nodeUseCases } from './node-use-cases.ts'
import type { Nodes } from './nodes.ts'
import { openNodes } from './open-nodes.ts'
import { stuckUseCases } from './stuck-use-cases.ts'
import { type Upkeep, upkeepUseCases } from './upkeep-use-cases.ts'

/** Port for the housekeeping of this process. */
export const upkeepPort = new Port<Upkeep>('the housekeeping')

/** Kinds of the installation as a whole, which do not belong to a project. */
const upkeepKinds: readonly AnyKind[] = [
  { ...endedStreams, exported: null },
  { ...upkeepRows, exported: null },
]

/** Capability `operators`: the operators' view of a running installation. */
export const operators = capability({
  name: 'operators',
  operations: {
    ...projectSessions,
    ...projectActors,
    ...nodeOperations,
    ...shards,
    ...liveActors,
    ...stuck,
    ...upkeep,
  },
  kinds: [stuckRows, ...upkeepKinds],
  open: (services) => {
    const nodes = nodesOf(services)
    const upkeep = upkeepUseCases(() => upkeepPort.of(services))
    const views = { ...actorViewUseCases({ ...services, nodes }), ...nodeUseCases(nodes) }
    return { useCases: { ...views, ...stuckUseCases(services), ...upkeep } }
  },
})

/** The nodes, once the runtime has started: only then does the process know its own place among them. */
const nodesOf = ({ runtime, cluster, clock }: Services): Nodes => {
  const opened = runtime.then((started) => openNodes(started, cluster, clock))
  opened.catch(() => {})
  return {
    list: async () => (await opened).list(),
    shards: async () => (await opened).shards(),
    liveActors: async (project, limit) => (await opened).liveActors(project, limit),
    runnerOf: async (actor) => (await opened).runnerOf(actor),
  }
}
