import { connect, createServer, type Server, type Socket } from 'node:net'
import { pino } from 'pino'
import type { Clock } from '#runtime/clock.ts'
import type { PeerRequest, PeerService } from '#runtime/messages/peers.ts'
import { openPeerServer, type PeerServer } from '#transport/peers/open-peer-server.ts'
import { openPeers } from '#transport/peers/open-peers.ts'

const key = Buffer.alloc(32, 7)
export const otherKey = Buffer.alloc(32, 8)
const log = pino({ level: 'silent' })

const opened: (() => unknown)[] = []

/** Closes it after the test, in reverse order. */
export const closedAfter = (close: () => unknown): void => {
  opened.push(close)
}

export const closeAll = async (): Promise<void> => {
  for (const close of opened.splice(0).reverse()) await close()
}

export const served = async (
  service: PeerService,
  more: Parameters<typeof openServer>[1] = {},
): Promise<PeerServer> => {
  const server = await openServer(service, more)
  closedAfter(() => server.close())
  return server
}

export const openPeering = (more: { key?: Buffer; otherKeys?: readonly Buffer[]; clock?: Clock } = {}) => {
  const peers = openPeers({ key, log, ...more })
  closedAfter(() => peers.close())
  return peers
}

export const openServer = (
  service: PeerService,
  more: { key?: Buffer; otherKeys?: readonly Buffer[]; clock?: Clock; port?: number } = {},
) => openPeerServer({ host: '127.0.0.1', port: 0, key, service, log, ...more })

/** A request about this actor. */
export const about = (actor: string): PeerRequest => ({ kind: 'delivered', actor })

export const done = { kind: 'done' } as const

/** Actor of a `delivered` request; '' for others. */
export const actorOf = (request: PeerRequest): string => ('actor' in request ? request.actor : '')

/** A service whose responses wait until the test gives them. */
export const held = () => {
  const waiting = new Map<string, () => void>()
  const came: string[] = []
  const service: PeerService = (request) =>
    new Promise((resolve) => {
      came.push(actorOf(request))
      waiting.set(actorOf(request), () => resolve(done))
    })
  return { service, came, answer: (actor: string) => waiting.get(actor)?.() }
}

export const portOf = ({ address }: Pick<PeerServer, 'address'>): number => Number(address.split(':').at(-1))

/** A server of raw sockets, for peers that misbehave. */
export const openRaw = async (connected: (socket: Socket) => void): Promise<{ address: string; server: Server }> => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    connected(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(server.address())
  return { address: `127.0.0.1:${port}`, server }
}

/** A connection between two ports that can be cut and can drop all bytes. */
export const openWire = async (to: number) => {
  const sockets = new Set<Socket>()
  let swallows = false
  const wire = await openRaw((near) => {
    const far = connect(to, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => swallows || far.write(bytes))
    far.on('data', (bytes) => swallows || near.write(bytes))
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const close = () => {
    cut()
    wire.server.close()
  }
  const swallow = (now: boolean) => {
    swallows = now
  }
  return { ...wire, cut, swallow, close }
}
