import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Arguments = Readonly<Record<string, unknown>>
type Result = Awaited<ReturnType<Parameters<McpServer['registerTool']>[2]>>

/** A tool of a test server. */
export interface ServedTool {
  readonly name: string
  readonly description: string
  readonly properties?: Readonly<Record<string, object>>
  readonly run?: (given: Arguments, context: ServerContext) => Result | Promise<Result>
}

/** A server of revision 2026-07-28 whose tools a test can change. */
export interface NewEraServer {
  readonly url: string
  readonly host: string
  /** Tools that it serves from the next request on. */
  tools: readonly ServedTool[]
  /** Tool calls that it received, with their headers. */
  readonly calls: { readonly name: string; readonly given: Arguments; readonly headers: IncomingHttpHeaders }[]
  /** Tools of calls whose caller disconnected before the answer. */
  readonly cancelled: string[]
  close(): Promise<void>
}

/** A request that arrived, and its body once it is complete. */
export interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer | null
}

export interface NewEraOptions {
  readonly legacy?: 'stateless' | 'reject'
  readonly port?: number
  /** Called before the body of a request is read, and again with the body. Returns whether it answers the request. */
  readonly before?: (arrived: Arrived) => Promise<boolean>
}

/** A tool result with a text. */
export const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })

export const startNewEraServer = async (
  tools: readonly ServedTool[],
  { legacy = 'reject', port: wanted = 0, before = async () => false }: NewEraOptions = {},
): Promise<NewEraServer> => {
  const served: Pick<NewEraServer, 'calls' | 'cancelled'> & { tools: readonly ServedTool[] } = {
    ...{ tools, calls: [], cancelled: [] },
  }
  let headers: IncomingHttpHeaders = {}
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'ours', version: '1.0.0' })
      for (const { name, description, properties = {}, run } of served.tools) {
        const inputSchema = fromJsonSchema<Arguments>({ type: 'object', properties })
        const came = headers
        server.registerTool(name, { description, inputSchema }, async (given, context) => {
          served.calls.push({ name, given, headers: came })
          context.mcpReq.signal.addEventListener('abort', () => served.cancelled.push(name))
          return run === undefined ? said(`${name} ran`) : run(given, context)
        })
      }
      return server
    },
    { legacy },
  )
  const http = createServer(async (request, response) => {
    const ended = new AbortController()
    response.on('close', () => ended.abort())
    headers = request.headers
    const method = request.method ?? 'GET'
    if (await before({ request, response, body: null })) return
    const body = method === 'POST' ? Buffer.concat(await request.toArray()) : null
    if (body !== null && (await before({ request, response, body }))) return
    const requested = new Request(`http://127.0.0.1${request.url}`, {
      ...{ method, body, signal: ended.signal },
      headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
    })
    const answer = await handler.fetch(requested)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else
      Readable.fromWeb(Object(answer.body))
        .on('error', () => {})
        .pipe(response)
  })
  await new Promise<void>((resolve) => http.listen(wanted, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(http.address())
  return Object.assign(served, {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await handler.close()
    },
  })
}
