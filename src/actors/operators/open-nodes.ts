import { hostname } from 'node:os'
import type { Clock } from '../runtime/index.ts'
import { type ClusterParts, LiveDirectory, type Runtime } from '../runtime/internal.ts'
import { ClusterNodes } from './cluster-nodes.ts'
import { LoneNode } from './lone-node.ts'
import type { Nodes } from './nodes.ts'

/**
 * Opens the operators' view of a running installation. In a cluster, this process also announces its live actors to the
 * others.
 */
export const openNodes = (
  { host, self }: Pick<Runtime, 'host' | 'self'>,
  cluster: Pick<ClusterParts, 'leases' | 'presence' | 'fanOut'> | undefined,
  clock: Clock,
): Nodes => {
  const me = self()
  if (cluster === undefined || me === null) return new LoneNode(host, hostname(), clock.now())
  const { leases, presence, fanOut } = cluster
  const now = () => self() ?? me
  const directory = new LiveDirectory({ residents: () => host.residents(), self: now, presence, clock })
  fanOut.onUp(() => directory.forget())
  directory.start()
  const facts = () => ({ liveActors: host.live, runningEffects: host.effects.running })
  return new ClusterNodes({ space: host.ownership.space, facts, self: now, leases, presence, clock })
}
