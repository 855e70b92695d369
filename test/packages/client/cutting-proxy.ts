import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a proxy does to one connection: it cuts it after so many bytes of the response. */
export interface Cut {
  readonly afterBytes: number
}

/** A proxy on TCP that cuts connections where `next` says so, and may be offline as a whole. */
export class CuttingProxy {
  /** Decides about a connection by the first line of its request; null lets it through whole. */
  next: (request: string) => Cut | null = () => null
  /** Number of connections so far, of those that were served. */
  connections = 0
  readonly #sockets = new Set<Socket>()
  #offline = false
  readonly #server = createServer((client) => this.#serve(client))
  readonly #target: () => number

  private constructor(target: () => number) {
    this.#target = target
  }

  /** @param target the server's port, at each connection. */
  static async open(target: () => number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    const { port }: Pick<AddressInfo, 'port'> = Object(this.#server.address())
    return `http://127.0.0.1:${port}`
  }

  /** Cuts every connection, and refuses new ones until `false`. */
  set offline(offline: boolean) {
    this.#offline = offline
    if (offline) this.cutAll()
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  close(): void {
    this.cutAll()
    this.#server.close()
  }

  #serve(client: Socket): void {
    if (this.#offline) {
      client.resetAndDestroy()
      return
    }
    this.connections++
    const server = connect(this.#target(), '127.0.0.1')
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    let left = Number.POSITIVE_INFINITY
    client.once('data', (data) => {
      left = this.next(String(data).split('\r\n')[0] ?? '')?.afterBytes ?? left
      if (left <= 0) client.resetAndDestroy()
    })
    client.on('data', (data) => server.write(data))
    server.on('data', (data) => {
      if (data.length < left) {
        left -= data.length
        client.write(data)
      } else client.write(data.subarray(0, left), () => client.destroy())
    })
  }
}
