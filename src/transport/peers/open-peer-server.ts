import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Logger } from 'pino'
import { type Clock, systemClock } from '../../actors/runtime/clock.ts'
import type { PeerService } from '../../actors/runtime/peers.ts'
import { addressText } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'
import { ServedPeer } from './served-peer.ts'

/** What the answering side is opened with. */
export interface PeerServerOptions {
  /** Where it listens, and where peers reach it. */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The same on all nodes; derived from the master key. */
  readonly key: Uint8Array
  readonly service: PeerService
  readonly log: Logger
  readonly clock?: Clock
}

/** The answering side. */
export interface PeerServer {
  /** `host:port`, as it belongs into a lease. */
  readonly address: string
  /** Takes nobody any more, and resolves when what was asked is answered, or after 2 s. */
  close(): Promise<void>
}

/** Answers other processes of the installation over TCP (specs/decisions/0062-peers.md). @throws when it cannot listen. */
export const openPeerServer = async (options: PeerServerOptions): Promise<PeerServer> => {
  const { host, port, clock = systemClock } = options
  const peers = new Set<ServedPeer>()
  const server = createServer((socket) => {
    const peer: ServedPeer = new ServedPeer(socket, { ...options, clock }, () => peers.delete(peer))
    peers.add(peer)
  })
  server.listen(port, host)
  await once(server, 'listening')
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  const close = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const peer of [...peers]) peer.leave()
    const cancel = clock.after(peerLimits.closeMs, () => {
      for (const peer of [...peers]) peer.cut()
    })
    await closed
    cancel()
  }
  return { address: addressText({ host, port: bound.port }), close }
}
