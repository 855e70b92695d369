import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Config } from '#src/config.ts'
import { openStorage } from '#src/open-storage.ts'
import type { Lease, LeaseTable, Member } from '#storage/cluster-ports.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'
import { overTcp } from './tcp.ts'

/**
 * Reports which nodes run on the store, which shards they hold, and whether each can be reached from here. Empty for a
 * store without leases.
 */
export const checkCluster = async (config: Config): Promise<readonly Finding[]> => {
  if (config.mongodbUrl === null) return []
  try {
    const table = await tableOf(config)
    return [...clusterFound(table, config.redisUrl !== null), ...(await Promise.all(table.members.map(checkPeer)))]
  } catch (error) {
    return [failed('leases', `cannot be read: ${reasonOf(error)}`, 'See mongodb above.')]
  }
}

/** A lease table, and the number of shards of its store. */
type CountedTable = LeaseTable & { readonly shards?: number }

const tableOf = async (config: Config): Promise<CountedTable> => {
  const storage = await openStorage(config)
  try {
    const table = (await storage.leases?.read()) ?? { leases: [], members: [] }
    return { ...table, shards: shardsOf(storage).count }
  } finally {
    await storage.close()
  }
}

/** Returns the findings about a lease table. @param isCluster whether this environment starts nodes of a cluster. */
export const clusterFound = (
  { leases, members, shards = shardsOf({}).count }: CountedTable,
  isCluster: boolean,
): readonly Finding[] => {
  if (members.length === 0) return isCluster ? [ok('nodes', 'none runs on this store now')] : []
  const held = leases.filter(({ holder, leftMs }) => holder !== null && leftMs > 0)
  const nodes = members.map((member) => described(member, held)).join(', ')
  if (!isCluster) {
    const advice =
      'Set REDIS_URL to the same value as theirs: without it, a server requires exclusive use of the store and does not start.'
    return [warning('nodes', `a cluster runs on this store: ${nodes}`, advice)]
  }
  return [...namesFound(members, nodes), leasesFound({ held, shards }, members)]
}

const described = ({ node, process, address, draining }: Member, held: readonly Lease[]): string => {
  const shards = held.filter(({ holder }) => holder === process).length
  return `${node} at ${address} (${shards} shards${draining ? ', draining' : ''})`
}

const namesFound = (members: readonly Member[], nodes: string): readonly Finding[] => {
  const twice = members.map(({ node }) => node).filter((node, at, names) => names.indexOf(node) !== at)
  if (twice.length === 0) return [ok('nodes', nodes)]
  const advice =
    'Give each node its own NODE_ID. The entry of a node that was just restarted disappears within seconds.'
  return [warning('nodes', `${nodes}: ${[...new Set(twice)].join(', ')} is there twice`, advice)]
}

const leasesFound = (
  { held, shards }: { readonly held: readonly Lease[]; readonly shards: number },
  members: readonly Member[],
): Finding => {
  const known = new Set(members.map(({ process }) => process))
  const good = held.filter(({ holder }) => holder !== null && known.has(holder)).length
  if (good === shards) return ok('leases', `all ${shards} shards are owned`)
  const says = `${shards - good} of ${shards} shards are not owned by a running node`
  return warning(
    'leases',
    says,
    'Run this again in five seconds: the nodes should claim them. Otherwise, check their logs.',
  )
}

const checkPeer = async ({ node, address }: Member): Promise<Finding> => {
  const { hostname, port } = new URL(`tcp://${address}`)
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), tls: false }
  try {
    await overTcp(at, async () => {})
    return ok(`node ${node}`, `${address} can be reached`)
  } catch (error) {
    const advice =
      'Nodes call each other at this address: check PEER_HOST, PEER_PORT and the firewall. From outside their network, this is expected.'
    return warning(`node ${node}`, `${address} cannot be reached from here: ${reasonOf(error)}`, advice)
  }
}
