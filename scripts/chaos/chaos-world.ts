import { MongoClient } from 'mongodb'
import type { LeaseTable } from '#storage/cluster-ports.ts'
import { MongoLeases } from '#storage/mongo/leases.ts'
import { type ClusterNode, LocalCluster } from '../cluster/local-cluster.ts'
import { startReplicaSet } from '../services/replica-set.ts'
import { freePort } from '../services/service.ts'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts'
import { type ChaosTool, startChaosTool } from './tool-server.ts'

/** The wires of one node. */
export interface Wires {
  readonly mongod: TcpProxy
  readonly redis: TcpProxy
  /** From the other nodes to this one. */
  readonly peers: TcpProxy
  /** Where the node listens for the others. */
  readonly peerPort: number
}

/** A store that is killed and comes back. */
export interface KilledStore {
  /** Of a replica set, its primary. */
  kill9(): Promise<void>
  restart(): Promise<void>
}

/** A cluster whose every node reaches MongoDB and Redis over wires of its own, and the tool that its turns call. */
export interface ChaosWorld {
  readonly cluster: LocalCluster
  /** Empty of a replica set of several: its members are found by their own names. */
  readonly wires: readonly Wires[]
  readonly mongod: KilledStore
  readonly tool: ChaosTool
  /** Who holds what, read past all wires; null while MongoDB is away. */
  leases(): Promise<LeaseTable | null>
  stop(): Promise<void>
}

/** Starts all of it: a mongod as a replica set (of one, or of so many `replicas`), a redis-server, `count` nodes. */
export const openChaosWorld = async (count: number, replicas: number): Promise<ChaosWorld> => {
  const tool = await startChaosTool()
  const set = replicas > 1 ? await startReplicaSet(replicas) : null
  const wires: Wires[] = []
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

const environment = (cluster: LocalCluster, wires: Wires | undefined, tool: ChaosTool): Record<string, string> => {
  return {
    ALLOWED_PRIVATE_HOSTS: tool.host,
    ...(wires !== undefined && {
      // direct: the set names mongod's own port, and a driver that follows it would leave the wire
      MONGODB_URL: `mongodb://127.0.0.1:${wires.mongod.port}${new URL(cluster.mongodbUrl).pathname}?directConnection=true`,
      REDIS_URL: `redis://127.0.0.1:${wires.redis.port}`,
      PEER_PORT: `${wires.peerPort}`,
      PEER_ADDRESS: `127.0.0.1:${wires.peers.port}`,
    }),
  }
}

/** Whether a node can answer: it runs, and is not stopped. */
export const isUp = (node: ClusterNode): boolean => node.isRunning && !node.isPaused
