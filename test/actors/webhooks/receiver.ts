import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as an endpoint received it. */
export interface Delivered {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** How an endpoint answers; null: not at all. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A webhook endpoint on a loopback port. */
export class Receiver {
  readonly received: Delivered[] = []
  /** Changed by tests. */
  reply: (delivered: Delivered) => Reply | null = () => ({ status: 204 })
  readonly #server: Server
  #waiting: (() => void)[] = []

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { url = '', headers } = request
        const delivered = { path: url, headers, body: Buffer.concat(parts).toString() }
        this.received.push(delivered)
        for (const wake of this.#waiting.splice(0)) wake()
        const reply = this.reply(delivered)
        if (reply !== null) response.writeHead(reply.status, reply.headers).end(reply.body)
      })
    })
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  /** `host:port`, for ALLOWED_PRIVATE_HOSTS. */
  get host(): string {
    const { port }: AddressInfo = Object(this.#server.address())
    return `127.0.0.1:${port}`
  }

  get url(): string {
    return `http://${this.host}/hook`
  }

  /** Resolves when this number of requests has arrived. */
  async requests(count: number): Promise<readonly Delivered[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.received
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
