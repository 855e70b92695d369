import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Id = number | string

/** A request of the protocol. */
interface ReceivedRequest {
  readonly id: Id
  readonly method: string
  readonly params: { readonly name?: string; readonly arguments?: object }
}

/** Responds to one request in any way. */
export type Answering = (received: ReceivedRequest, response: ServerResponse, request: IncomingMessage) => void

/** A server with a correct handshake of 2025-11-25, which then behaves as a test defines. */
export interface HostileServer {
  readonly url: string
  readonly host: string
  close(): Promise<void>
}

/** A valid response of the protocol. */
export const answer = (response: ServerResponse, id: Id, result: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** A tool of a hostile server. */
export const named = (name: string, more: object = {}) => ({
  name,
  description: 'x',
  inputSchema: { type: 'object' },
  ...more,
})

export const startHostileServer = async (
  answering: Answering,
  capabilities: object = { tools: {} },
): Promise<HostileServer> => {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const received: ReceivedRequest = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (received.method === 'server/discover')
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: received.id, error: { code: -32601, message: 'Method not found' } }))
    if (received.method === 'initialize')
      return answer(response, received.id, {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'hostile', version: '1' },
        capabilities,
      })
    if (received.id === undefined) return response.writeHead(202).end()
    answering(received, response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
