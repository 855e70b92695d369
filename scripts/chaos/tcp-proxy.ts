import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A wire from a port of its own to another one, that can be cut. */
export interface TcpProxy {
  readonly port: number
  /** Connections that are open now. */
  readonly connections: number
  /** Breaks every connection, in the middle of whatever is on the way, and refuses new ones until `heal`. */
  cut(): void
  /** Takes connections again. */
  heal(): void
  close(): Promise<void>
}

/** Opens a wire to a loopback port; the other end may come and go. */
export const openTcpProxy = async (target: number): Promise<TcpProxy> => {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.resetAndDestroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    join(near, far, open)
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

/** Bytes go both ways; when one end goes, so does the other. */
const join = (near: Socket, far: Socket, open: Set<Socket>): void => {
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
