import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A refund service in place of the product's own; it records the refunds that it makes. */
export interface ToolServer {
  readonly url: string
  readonly host: string
  /** Refunds made so far, by Idempotency-Key. */
  readonly refunds: ReadonlyMap<string, unknown>
  close(): void
}

/** Starts the refund service on a free loopback port. */
export const startToolServer = async (): Promise<ToolServer> => {
  const refunds = new Map<string, unknown>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(parts).toString())
      refunds.set(String(request.headers['idempotency-key']), call.arguments)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ refunded: true, receipt: `R-${refunds.size}` }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}/refunds`,
    host: `127.0.0.1:${port}`,
    refunds,
    close: () => server.close(),
  }
}
