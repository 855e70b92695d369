import type { Member } from '#storage/cluster-ports.ts'
import type { ClusterNodeParts } from './cluster-node.ts'

/** This process, as it announces itself to the cluster. */
export const memberOf = ({
  cluster,
  held,
  clock,
  definitions,
}: Pick<ClusterNodeParts, 'cluster' | 'held' | 'clock' | 'definitions'>): Omit<Member, 'draining'> => ({
  ...cluster.self,
  process: `${cluster.self.node}.${held.epoch}`,
  startedAt: clock.now(),
  machines: Object.fromEntries(definitions.map(({ name, version }) => [name, version])),
  readableBy: Object.fromEntries(definitions.map(({ name, version, readableBy = version }) => [name, readableBy])),
})
