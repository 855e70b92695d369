import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  type ElicitResult,
  fromJsonSchema,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { said } from './new-era-server.ts'

/** A server of revision 2025-11-25 whose tool `book` sends an elicitation on the connection of its call. */
export interface InputServer {
  readonly url: string
  readonly host: string
  /** Number of tool calls. */
  calls: number
  /** Results of its elicitations. */
  readonly answers: ElicitResult[]
  /** Number of cancelled calls. */
  cancelled: number
  close(): Promise<void>
}

const requestedSchema = {
  type: 'object' as const,
  properties: { seat: { type: 'string' as const, title: 'Seat', enum: ['window', 'aisle'] } },
  required: ['seat'],
}

export const startInputServer = async (): Promise<InputServer> => {
  const answers: ElicitResult[] = []
  const served = { calls: 0, cancelled: 0, answers }
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const begin = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = new McpServer({ name: 'asking', version: '1.0.0' })
    const inputSchema = fromJsonSchema<object>({ type: 'object', properties: {} })
    server.registerTool('book', { description: 'Books a seat.', inputSchema }, async (_given, { mcpReq }) => {
      served.calls += 1
      mcpReq.signal.addEventListener('abort', () => {
        served.cancelled += 1
      })
      const wanted = { message: 'Which seat do you want?', requestedSchema }
      const answer = await mcpReq.elicitInput(wanted, { timeout: 600_000, relatedRequestId: mcpReq.id })
      served.answers.push(answer)
      return said(`Booked: ${answer.action} ${JSON.stringify(answer.content ?? null)}.`)
    })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await server.connect(transport)
    return transport
  }
  const http = createServer(async (request, response) => {
    const method = request.method ?? 'GET'
    const body = method === 'POST' ? Buffer.concat(await request.toArray()) : null
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const transport = known ?? (await begin())
    const answer = await transport.handleRequest(
      new Request(`http://127.0.0.1${request.url}`, { method, body, headers }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else
      Readable.fromWeb(Object(answer.body))
        .on('error', () => {})
        .pipe(response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(http.address())
  return Object.assign(served, {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  })
}
