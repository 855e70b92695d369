import { MongoClient } from 'mongodb'
import type { LeaseTable } from '#storage/cluster-ports.ts'
import { MongoLeases } from '#storage/mongo/leases.ts'
import { type ClusterNode, LocalCluster } from '../cluster/local-cluster.ts'
import { startReplicaSet } from '../services/replica-set.ts'
import { freePort } from '../services/service.ts'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts'
import { type ChaosTool, startChaosTool } from './tool-server.ts'

/** The proxies through which one node is connected. */
interface NodeProxies {
  readonly mongod: TcpProxy
  readonly redis: TcpProxy
  /** From the other nodes to this one. */
  readonly peers: TcpProxy
  /** Port on which the node listens for the others. */
  readonly peerPort: number
}

/** A store that can be killed and restarted. */
export interface KilledStore {
  /** Kills the store; of a replica set, its primary. */
  kill9(): Promise<void>
  restart(): Promise<void>
}

/**
 * A cluster in which every node reaches MongoDB and Redis through its own proxies, and the tool that its turns call.
 */
export interface ChaosWorld {
  readonly cluster: LocalCluster
  /** Empty for a replica set of several members, since drivers connect to the members' own addresses. */
  readonly wires: readonly NodeProxies[]
  readonly mongod: KilledStore
  readonly tool: ChaosTool
  /** Reads the lease table without a proxy; null while MongoDB is unavailable. */
  leases(): Promise<LeaseTable | null>
  stop(): Promise<void>
}

/**
 * Starts the whole world: MongoDB as a replica set (of one, or of `replicas` members), a redis-server, and `count`
 * nodes.
 */
export const openChaosWorld = async (count: number, replicas: number): Promise<ChaosWorld> => {
  const tool = await startChaosTool()
  const set = replicas > 1 ? await startReplicaSet(replicas) : null
  const wires: NodeProxies[] = []
  const cluster = await LocalCluster.start(0, {
    ...(set === null ? { replicaSet: true } : { mongodbUrl: set.url }),
    env: (at) => environment(cluster, wires[at], tool),
  })
  for (let at = 0; set === null && at < count; at++) {
    const peerPort = await freePort()
    wires.push({
      mongod: await openTcpProxy(cluster.mongod.port),
      redis: await openTcpProxy(cluster.redis.port),
      peers: await openTcpProxy(peerPort),
      peerPort,
    })
  }
  const client = new MongoClient(cluster.mongodbUrl, { serverSelectionTimeoutMS: 2000, socketTimeoutMS: 2000 })
  const leases = new MongoLeases(client.db())
  const stop = async () => {
    await client.close()
    await cluster.stop()
    await Promise.all(wires.flatMap(({ mongod, redis, peers }) => [mongod, redis, peers].map((wire) => wire.close())))
    await Promise.all([set?.stop(), tool.close()])
  }
  try {
    await cluster.add(count)
  } catch (error) {
    await stop()
    throw error
  }
  const mongod = set === null ? cluster.mongod : { kill9: () => set.killPrimary(), restart: () => set.restart() }
  return { cluster, wires, mongod, tool, leases: () => leases.read().catch(() => null), stop }
}

const environment = (
  cluster: LocalCluster,
  wires: NodeProxies | undefined,
  tool: ChaosTool,
): Record<string, string> => {
  return {
    ALLOWED_PRIVATE_HOSTS: tool.host,
    ...(wires !== undefined && {
      // direct: the replica set advertises mongod's own port, and a driver that follows it would bypass the proxy
      MONGODB_URL: `mongodb://127.0.0.1:${wires.mongod.port}${new URL(cluster.mongodbUrl).pathname}?directConnection=true`,
      REDIS_URL: `redis://127.0.0.1:${wires.redis.port}`,
      PEER_PORT: `${wires.peerPort}`,
      PEER_ADDRESS: `127.0.0.1:${wires.peers.port}`,
    }),
  }
}

/** Whether a node can answer: it is running and not paused. */
export const isUp = (node: ClusterNode): boolean => node.isRunning && !node.isPaused
