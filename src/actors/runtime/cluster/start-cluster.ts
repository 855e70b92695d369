import type { HostOptions } from '../host.ts'
import { shardsOf } from '../recovery/shard.ts'
import { nextStart } from '../stuck/start-number.ts'
import { ClusterHost } from './cluster-host.ts'
import { ClusterNode, type ClusterParts } from './cluster-node.ts'
import { HeldShards } from './held-shards.ts'

/**
 * Starts the host of one process of a cluster, which takes its shards and starts to recover the open work there.
 * Resolves when requests may be served.
 *
 * @throws {StoreUnavailable}
 */
export const startCluster = async (options: Omit<HostOptions, 'ownership'>, cluster: ClusterParts) => {
  const { clock } = options
  const held = new HeldShards(await nextStart(options.storage, clock), clock, shardsOf(options.storage))
  // nothing is written before the host is created
  const commits = held.guarded(options.storage.commits, () => host.node.doubt())
  const storage = { ...options.storage, commits }
  const host: ClusterHost = new ClusterHost(
    { ...options, storage, ownership: held },
    (made) => new ClusterNode({ ...options, storage, host: made, held, cluster }),
  )
  const { node, recovery } = host
  host.placed.places = (key) => node.placesOf(key)
  await node.keeper.start()
  return {
    host,
    replaced: new Promise<void>(() => {}),
    self: () => node.self,
    processes: node.processes,
    end: async (graceMs: number): Promise<void> => {
      await node.drain(graceMs)
      recovery.stop()
    },
    leave: (): Promise<void> => node.stop(),
  }
}
