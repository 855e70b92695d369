import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { type Clock, systemClock } from '#runtime/index.ts'
import type { PeerService } from '#runtime/internal.ts'
import { addressText } from './host-port.ts'
import { peerLimits } from './peer-limits.ts'
import { secureServer } from './secure-channel.ts'
import { ServedPeer, type TracedWork } from './served-peer.ts'

/** Options of the serving side. */
export interface PeerServerOptions {
  /** Host to listen on, at which peers reach this process. */
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** The same on all nodes; derived from the master key. */
  readonly key: Uint8Array
  /** Keys derived from earlier or later master keys: peers that hold one of them are accepted as well. */
  readonly otherKeys?: readonly Uint8Array[]
  readonly service: PeerService
  /** Runs work in the span of this `traceparent`; absent: spans of peers are ignored. */
  readonly traced?: TracedWork | undefined
  readonly log: Logger
  readonly clock?: Clock
}

/** The serving side of peer connections. */
export interface PeerServer {
  /** `host:port`, as written into a lease. */
  readonly address: string
  /** Stops accepting connections; resolves when open requests are answered, or after 2 s. */
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
  // tracked before the handshake, so that a connection which never completes it does not keep the server from closing
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // Node leaves a connection open whose handshake has timed out
    socket.destroy()
    // a client that only probes whether the port is open is not worth a log line
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
