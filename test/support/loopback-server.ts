import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** A server of HTTP on loopback, at a port of its own. */
export abstract class LoopbackServer {
  protected readonly server = createServer((request, response) => void this.answer(request, response))

  protected abstract answer(request: IncomingMessage, response: ServerResponse): unknown

  /** @returns itself, once it takes requests */
  async listening(): Promise<this> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return this
  }

  get port(): number {
    const address = this.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(path: string): string {
    return `http://${this.host}${path}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
