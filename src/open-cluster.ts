import { hostname, networkInterfaces } from 'node:os'
import type { Logger } from 'pino'
import { keyName } from './actors/records/derive-key.ts'
import type { ServerKeys } from './actors/records/sealing/server-keys.ts'
import { systemClock } from './actors/runtime/index.ts'
import type { ClusterParts, PeerService } from './actors/runtime/internal.ts'
import type { Config } from './config.ts'
import { openHints } from './open-storage.ts'
import { hasEnded, processMark } from './process-mark.ts'
import type { AnswerStore, RateLimits, RedisState, SharedTurns, Storage } from './storage/index.ts'
import type { Traces } from './telemetry/open-traces.ts'
import { openPeerServer } from './transport/peers/open-peer-server.ts'
import { openPeers } from './transport/peers/open-peers.ts'

/** The connection of this process to the other nodes. */
export interface OpenedCluster {
  readonly parts: ClusterParts
  readonly limits: RateLimits
  readonly turns: SharedTurns
  readonly answers: AnswerStore
  /** For probes. */
  readonly redis: () => RedisState
  /** Call when no more requests are sent to other nodes, and none of theirs are being served. */
  close(): Promise<void>
}

/** Name of the node: `NODE_ID`, or the host name (in a container, its id) and the process id. */
export const nodeIdOf = ({ nodeId }: Pick<Config, 'nodeId'>): string =>
  nodeId ?? `${hostname().slice(0, 48)}-${process.pid}`

/**
 * Joins the cluster that the configuration describes; null for a single process.
 *
 * @throws {Error} when nothing can listen at `PEER_HOST` and `PEER_PORT`. Redis may be unavailable.
 */
export const openCluster = async (
  config: Config,
  {
    storage: { leases },
    keys,
    traces,
    log,
  }: {
    readonly storage: Pick<Storage, 'leases'>
    readonly keys: ServerKeys
    /** Spans, which requests between nodes carry; null: traces are off. */
    readonly traces: Traces | null
    readonly log: Logger
  },
): Promise<OpenedCluster | null> => {
  const [key, otherKeys] = [keys.current('peers'), keys.others('peers')]
  const hints = await openHints(config, keyName(keys.lasting('peers')), log)
  if (hints === null || leases === null) return null
  const service = Promise.withResolvers<PeerService>()
  const server = await openPeerServer({
    host: peerHostOf(config),
    port: config.peerPort,
    ...{ key, otherKeys },
    // requests that arrive before the actors are ready wait
    service: async (request) => (await service.promise)(request),
    traced: traces?.within,
    log,
  })
  const peers = openPeers({ key, otherKeys, log, clock: systemClock, trace: traces?.current })
  const mark = processMark()
  const address = config.peerAddress ?? server.address
  const self = { node: nodeIdOf(config), address, ...(mark !== undefined && { mark }) }
  log.info({ address: self.address }, 'listening for other nodes')
  return {
    parts: { leases, presence: hints.presence, fanOut: hints.fanOut, peers, self, hasEnded, serve: service.resolve },
    ...{ limits: hints.limits, turns: hints.turns, answers: hints.answers, redis: hints.state },
    close: async () => {
      await server.close()
      peers.close()
      await hints.close()
    },
  }
}

/** Host at which other nodes reach this one. Nodes that serve only this machine stay on the loopback address. */
export const peerHostOf = (
  { peerHost, host }: Pick<Config, 'peerHost' | 'host'>,
  interfaces = networkInterfaces(),
): string => {
  if (peerHost !== null) return peerHost
  if (/^(127\.|::1$|localhost$)/.test(host)) return '127.0.0.1'
  if (host !== '0.0.0.0' && host !== '::') return host
  const addresses = Object.values(interfaces).flatMap((each) => each ?? [])
  const reached = addresses.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
  const first = reached.find(({ family }) => family === 'IPv4') ?? reached[0]
  return first?.address ?? '127.0.0.1'
}
