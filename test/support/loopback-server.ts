import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** An HTTP server on loopback with its own port. */
export abstract class LoopbackServer {
  protected readonly server = createServer((request, response) => void this.answer(request, response))

  protected abstract answer(request: IncomingMessage, response: ServerResponse): unknown

  /** @returns itself, once it accepts requests. */
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
