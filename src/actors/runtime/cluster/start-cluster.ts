import { pause } from '../clock.ts'
import { Host, type HostOptions } from '../host.ts'
import { nextStart } from '../start-number.ts'
import { ClusterNode, type ClusterParts } from './cluster-node.ts'
import { HeldShards } from './held-shards.ts'
import { ShardRecovery } from './shard-recovery.ts'

/** A start waits so long for what others left undone to be taken up, in ms; the rest goes on behind the first requests. */
const recoveryMs = 5000

/**
 * Starts the host of one process of a cluster: it takes the shards that are its, and takes up what is open there.
 * Resolves when requests may come.
 *
 * @throws {StoreUnavailable}
 */
export const startCluster = async (options: Omit<HostOptions, 'ownership' | 'link'>, cluster: ClusterParts) => {
  const { clock, log } = options
  const held = new HeldShards(await nextStart(options.storage, clock), clock)
  const joined = Promise.withResolvers<{ node: ClusterNode; recovery: ShardRecovery }>()
  const commits = held.guarded(options.storage.commits, () => void joined.promise.then(({ node }) => node.doubt()))
  const storage = { ...options.storage, commits }
  const link = (host: Host): ClusterNode => {
    const recovery = new ShardRecovery(host, commits, clock, log)
    const gained = (shards: readonly number[]): void => recovery.begin(shards)
    const recovering = (shard: number): Promise<void> | undefined => recovery.underWay(shard)
    const node = new ClusterNode({ ...options, storage, host, held, cluster, gained, recovering })
    joined.resolve({ node, recovery })
    return node
  }
  const host = new Host({ ...options, storage, ownership: held, link })
  const { node, recovery } = await joined.promise
  await node.keeper.start()
  await Promise.race([recovery.first, pause(clock, recoveryMs)])
  return {
    host,
    replaced: new Promise<void>(() => {}),
    self: () => node.self,
    end: async (graceMs: number): Promise<void> => {
      await node.drain(graceMs)
      recovery.stop()
    },
    leave: (): Promise<void> => node.stop(),
  }
}
