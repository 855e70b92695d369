import { randomInt } from 'node:crypto'
import type { Client, ClientOptions, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'
import { type FetchLimits, type GuardedFetch, guardedFetch } from '#outgoing/guarded-fetch.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { failureOf, McpFailure } from './mcp-failure.ts'

/** A server, and what goes along with each request to it. */
export interface McpTarget {
  readonly url: string
  readonly transport: 'auto' | 'streamable_http' | 'sse'
  /** Names in lower case. Secret. */
  readonly headers: Readonly<Record<string, string>>
}

/** A connection to a server, for one piece of work. */
export interface McpConnection {
  readonly client: Client
  readonly transport: 'streamable_http' | 'sse'
  /** Never throws. */
  close(): Promise<void>
}

/** How long one piece of work takes at most, and what may end it before. */
export interface McpWork {
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Ends the work in place of `timeoutMs`, which is for the connection then. */
  readonly limit?: AbortSignal
  /** What the server may request of us, and what is done with it. */
  readonly options?: ClientOptions
  /** Stands between the protocol and the guard, such as what signs in at a 401. */
  readonly middleware?: (fetch: GuardedFetch) => GuardedFetch
  /** Prepares the client before it connects. */
  readonly prepare?: (client: Client) => void
}

/** Most that all answers in one piece of work come to, and the requests of it. */
export const mcpLimits: FetchLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 64, maxRequests: 500 }

/** Pages of a list that are read. */
export const maxListPages = 16

const clientInfo = { name: 'troupe', version: '1.0.0' }

/** Results are texts for a model: nothing of a server's is compiled or run to check them. */
const acceptsAll: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (data) => ({ valid: true, data: Object(data), errorMessage: undefined }),
}

/** Some servers show tools that request input only to clients that say they can have it. */
const capabilities: NonNullable<ClientOptions['capabilities']> = { elicitation: { form: {}, url: {} } }

const closingMs = 2_000

/** First ids of requests are below: what is counted up from there is exact in JSON. */
const mostFirstId = 2 ** 47

/** Statuses at which a server of the older transport answers the newer one. */
const olderStatuses = new Set([400, 404, 405, 406, 415])

/**
 * Does a piece of work with a server and closes the connection, whatever comes of it.
 *
 * @throws {McpFailure}
 */
export const withServer = async <T>(
  target: McpTarget,
  work: McpWork,
  use: (connection: McpConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const limit = work.limit ?? AbortSignal.timeout(work.timeoutMs)
  const refusing = new AbortController()
  const closing = new AbortController()
  const signal = AbortSignal.any([limit, work.signal, refusing.signal])
  const guarded = guardedFetch(work.guard, mcpLimits, {
    kind: 'mcp',
    outer: AbortSignal.any([signal, closing.signal]),
    refused: (error) => refusing.abort(error),
  })
  const fetch = work.middleware?.(guarded) ?? guarded
  let connection: McpConnection | null = null
  try {
    connection = await raced(connected(target, work, { fetch, signal }), signal)
    return await raced(use(connection, signal), signal)
  } catch (error) {
    if (work.signal.aborted) throw new McpFailure('cancelled', 'The call was cancelled.', { cause: error })
    throw failureOf(refusing.signal.aborted ? refusing.signal.reason : error, work.timeoutMs)
  } finally {
    await connection?.close()
    closing.abort()
  }
}

/** What a server keeps back longer than it may is no longer waited for. */
const raced = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) return Promise.reject(signal.reason)
  const ended = Promise.withResolvers<never>()
  const end = (): void => ended.reject(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  work.catch(() => {})
  return Promise.race([work, ended.promise]).finally(() => signal.removeEventListener('abort', end))
}

interface Wire {
  readonly fetch: GuardedFetch
  readonly signal: AbortSignal
}

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
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
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
  await begun(client, transport, { timeout: work.timeoutMs, signal })
  return { client, transport: 'streamable_http', close: () => closed(client, transport) }
}

const overSse = async (target: McpTarget, work: McpWork, { fetch, signal }: Wire): Promise<McpConnection> => {
  const { SSEClientTransport } = await import('@modelcontextprotocol/client')
  const transport = new SSEClientTransport(new URL(target.url), {
    fetch,
    requestInit: { headers: { ...target.headers } },
  })
  // no revision that is negotiated otherwise has this transport, and some of its servers end at a method they do not know
  const client = await newClient(work, 'legacy')
  await begun(client, transport, { timeout: work.timeoutMs, signal })
  return { client, transport: 'sse', close: () => closed(client, null) }
}

/** A transport that failed would go on to reconnect: it is closed, also when it is no longer waited for. */
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
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(clientInfo, {
    versionNegotiation: { mode },
    listMaxPages: maxListPages,
    jsonSchemaValidator: acceptsAll,
    capabilities,
    inputRequired: { autoFulfill: false },
    ...options,
  })
  // a call that is made again has to have another id (SEP-2322), also over a new connection; the SDK counts each from 0
  Reflect.set(client, '_requestMessageId', randomInt(1, mostFirstId))
  prepare?.(client)
  return client
}

/** A session of the older protocol is ended at the server too, if that answers in a moment. */
const closed = async (client: Client, transport: StreamableHTTPClientTransport | null): Promise<void> => {
  try {
    if (transport?.sessionId !== undefined) await raced(transport.terminateSession(), AbortSignal.timeout(closingMs))
  } catch {
    // the server forgets the session by itself
  }
  await client.close().catch(() => {})
}
