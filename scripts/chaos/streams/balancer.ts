import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { joinSockets } from '../tcp-proxy.ts'

/** A load balancer in front of several nodes: each connection goes to the next one that is up. */
export interface Balancer {
  readonly url: string
  close(): void
}

/** @param ports returns the ports of the nodes that are up. */
export const openBalancer = async (ports: () => readonly number[]): Promise<Balancer> => {
  const open = new Set<Socket>()
  let next = 0
  const server = createServer((near) => {
    const up = ports()
    const far = connect(up[next++ % up.length] ?? 0, '127.0.0.1')
    joinSockets(near, far, open)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: { port: number } = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
