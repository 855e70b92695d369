import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { type Clock, systemClock } from '#runtime/clock.ts'
import type { PeerService } from '#runtime/messages/peers.ts'
import { addressText } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'
import { secureServer } from './secure-channel.ts'
import { ServedPeer } from './served-peer.ts'

/** What the answering side is opened with. */
export interface PeerServerOptions {
  /** Where it listens, and where peers reach it. */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The same on all nodes; derived from the master key. */
  readonly key: Uint8Array
  /** Of earlier or later master keys: a peer that has one of them is taken as well. */
  readonly otherKeys?: readonly Uint8Array[]
  readonly service: PeerService
  readonly log: Logger
  readonly clock?: Clock
}

/** The answering side. */
export interface PeerServer {
  /** `host:port`, as it belongs into a lease. */
  readonly address: string
  /** Takes no connection any more, and resolves when open requests are answered, or after 2 s. */
  close(): Promise<void>
}

/** Answers other processes of the installation over TLS (specs/decisions/0062-peers.md). @throws when it cannot listen. */
export const openPeerServer = async (options: PeerServerOptions): Promise<PeerServer> => {
  const { host, port, log, clock = systemClock } = options
  const peers = new Set<ServedPeer>()
  const connections = new Set<Socket>()
  const server = secureServer(options, (socket) => {
    const peer: ServedPeer = new ServedPeer(socket, { ...options, clock }, () => peers.delete(peer))
    peers.add(peer)
  })
  // from the first byte on, so that one which never proves anything does not keep the server from closing
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // Node leaves one open that only took too long
    socket.destroy()
    // a client that only looks whether anything listens is not worth a line
    if (error.code !== 'ECONNRESET') log.warn({ err: error }, 'connection of a peer refused')
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
      for (const socket of [...connections]) socket.destroy()
    })
    await closed
    cancel()
  }
  return { address: addressText({ host, port: bound.port }), close }
}
