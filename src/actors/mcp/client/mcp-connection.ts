import { randomInt } from 'node:crypto'
import type { Client, ClientOptions, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'
import { mcpSdk } from '#outgoing/mcp-sdk.ts'
import { ToolSieve } from './tool-sieve.ts'
import { raced, type Wire, type WireWork, withWire } from './wire.ts'

/** A server, and the headers that every request to it carries. */
export interface McpTarget {
  readonly url: string
  /** `a2a`: an agent, by the URL of its card. */
  readonly transport: 'auto' | 'streamable_http' | 'sse' | 'a2a'
  /** Names are in lower case. The values are secret. */
  readonly headers: Readonly<Record<string, string>>
}

/** A connection to a server for one unit of work. */
export interface McpConnection {
  readonly client: Client
  readonly transport: 'streamable_http' | 'sse'
  /** The tools that the server has listed. */
  readonly sieve: ToolSieve
  /** Never throws. */
  close(): Promise<void>
}

/** Options of one unit of work with a server of the Model Context Protocol. */
export interface McpWork extends WireWork {
  /** Client options, such as handlers of the server's requests. */
  readonly options?: ClientOptions
  /** Prepares the client before it connects. */
  readonly prepare?: (client: Client) => void
}

/** Maximum number of pages that are read of a list. */
const maxListPages = 16

const clientInfo = { name: 'troupe', version: '1.0.0' }

/** Accepts every value: results are texts for a model, so no schema of a server is compiled or run. */
const acceptsAll: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (data) => ({ valid: true, data: Object(data), errorMessage: undefined }),
}

/** Declares that input can be requested, since some servers hide tools that request input from other clients. */
const capabilities: NonNullable<ClientOptions['capabilities']> = { elicitation: { form: {}, url: {} } }

const closingMs = 2_000

/** Upper bound of a client's first request id, so that the ids after it are exact integers in JSON. */
const maxFirstId = 2 ** 47

/** Statuses with which servers of the older SSE transport reject a request of the newer one. */
const olderStatuses = new Set([400, 404, 405, 406, 415])

/**
 * Connects to a server, runs a unit of work, and closes the connection in any case.
 *
 * @throws {McpFailure}
 */
export const withServer = <T>(
  target: McpTarget,
  work: McpWork,
  use: (connection: McpConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  withWire(work, async (wire) => {
    const connection = await raced(connected(target, work, wire), wire.signal)
    try {
      return await raced(use(connection, wire.signal), wire.signal)
    } finally {
      await connection.close()
    }
  })

const connected = async (target: McpTarget, work: McpWork, wire: Wire): Promise<McpConnection> => {
  if (target.transport === 'sse') return overSse(target, work, wire)
  try {
    return await overHttp(target, work, wire)
  } catch (error) {
    if (target.transport !== 'auto' || !isOlder(error)) throw error
    return overSse(target, work, wire)
  }
}

const isOlder = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && olderStatuses.has(Number(error.status))

const overHttp = async (target: McpTarget, work: McpWork, { fetch, signal }: Wire): Promise<McpConnection> => {
  const { StreamableHTTPClientTransport } = await mcpSdk()
  const transport = new StreamableHTTPClientTransport(new URL(target.url), {
    fetch,
    requestInit: { headers: { ...target.headers } },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  })
  const client = await newClient(work)
  const sieve = new ToolSieve()
  sieve.watch(transport)
  await begun(client, transport, { timeout: work.timeoutMs, signal })
  return { client, transport: 'streamable_http', sieve, close: () => closed(client, transport) }
}

const overSse = async (target: McpTarget, work: McpWork, { fetch, signal }: Wire): Promise<McpConnection> => {
  const { SSEClientTransport } = await mcpSdk()
  const transport = new SSEClientTransport(new URL(target.url), {
    fetch,
    requestInit: { headers: { ...target.headers } },
  })
  // every revision with this transport uses the legacy handshake, and some of these servers stop at an unknown method
  const client = await newClient(work, 'legacy')
  const sieve = new ToolSieve()
  sieve.watch(transport)
  await begun(client, transport, { timeout: work.timeoutMs, signal })
  return { client, transport: 'sse', sieve, close: () => closed(client, null) }
}

/** Connects a client. A failed or aborted transport is closed, since it would otherwise keep reconnecting. */
const begun = async (client: Client, transport: Transport, options: { timeout: number; signal: AbortSignal }) => {
  const end = (): void => void transport.close().catch(() => {})
  options.signal.addEventListener('abort', end, { once: true })
  try {
    await client.connect(transport, options)
  } catch (error) {
    end()
    throw error
  }
}

const newClient = async ({ options, prepare }: McpWork, mode: 'auto' | 'legacy' = 'auto'): Promise<Client> => {
  const { Client } = await mcpSdk()
  const client = new Client(clientInfo, {
    versionNegotiation: { mode },
    listMaxPages: maxListPages,
    jsonSchemaValidator: acceptsAll,
    capabilities,
    inputRequired: { autoFulfill: false },
    ...options,
  })
  // a repeated call needs a new id (SEP-2322), also over a new connection; the SDK starts at 0 for each connection
  Reflect.set(client, '_requestMessageId', randomInt(1, maxFirstId))
  prepare?.(client)
  return client
}

/** Closes a connection, and a session of the older protocol at the server, if it responds within `closingMs`. */
const closed = async (client: Client, transport: StreamableHTTPClientTransport | null): Promise<void> => {
  try {
    if (transport?.sessionId !== undefined) await raced(transport.terminateSession(), AbortSignal.timeout(closingMs))
  } catch {
    // the server drops the session by itself
  }
  await client.close().catch(() => {})
}
