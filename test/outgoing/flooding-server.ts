import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'

/** A TCP server that responds to each request as a test defines and closes its connections when it closes. */
export class FloodingServer {
  readonly sockets = new Set<Socket>()
  readonly #server: Server

  private constructor(answer: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('error', () => socket.destroy())
      socket.on('data', () => answer(socket))
    })
  }

  static async open(answer: (socket: Socket) => void): Promise<FloodingServer> {
    const server = new FloodingServer(answer)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    const { port }: AddressInfo = Object(this.#server.address())
    return port
  }

  /** `host:port`, for ALLOWED_PRIVATE_HOSTS. */
  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Sends `first`, and then `part` for as long as the other side reads. */
export const flood =
  (first: string, part: Buffer | string) =>
  (socket: Socket): void => {
    const more = (): void => {
      while (!socket.destroyed) if (!socket.write(part)) return void socket.once('drain', more)
    }
    socket.write(first)
    more()
  }
