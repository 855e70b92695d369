import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy from its own port to another one, which can be cut. */
export interface TcpProxy {
  readonly port: number
  /** Number of open connections. */
  readonly connections: number
  /** Resets every connection, even in the middle of a transfer, and refuses new ones until `heal`. */
  cut(): void
  /** Accepts connections again. */
  heal(): void
  close(): Promise<void>
}

/** Opens a proxy to a loopback port, whose server may be down at times. */
export const openTcpProxy = async (target: number): Promise<TcpProxy> => {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.resetAndDestroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    joinSockets(near, far, open)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: { port: number } = Object(server.address())
  const breakAll = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    port,
    get connections() {
      return open.size / 2
    },
    cut: () => {
      isCut = true
      breakAll()
    },
    heal: () => {
      isCut = false
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      breakAll()
      await closed
    },
  }
}

/** Pipes bytes both ways; when one end closes, so does the other. */
export const joinSockets = (near: Socket, far: Socket, open: Set<Socket>): void => {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(socket)
    socket.setNoDelay(true)
    socket.pipe(other)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      other.destroy()
    })
  }
}
