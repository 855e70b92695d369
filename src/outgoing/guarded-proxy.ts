import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as startRequest,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type SsrfGuard, SsrfRefused } from './ssrf-guard.ts'

/** Error codes for a failed connection. */
export type ProxyRefusal = 'unsafe_url' | 'dns_unavailable' | 'fetch_timeout' | 'fetch_failed' | 'response_too_large'

export interface GuardedProxyOptions {
  readonly guard: Pick<SsrfGuard, 'check' | 'connect'>
  /** Maximum number of received bytes over all connections together. */
  readonly maxBytes: number
}

/** Maximum number of concurrent sockets; further connections are refused. */
const maxConnections = 256
/** Maximum number of hosts whose refusals are remembered. */
const maxRefusals = 1_000
/** Hop-by-hop headers (RFC 9110, section 7.6.1). */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * A forward proxy on a loopback port for one browser: plain HTTP, and tunnels (CONNECT) for everything else. It
 * resolves names itself and connects to public addresses and allowed hosts only, checked on the address of each
 * connection. No redirect, worker, WebSocket or name whose address changes gets past it.
 */
export class GuardedProxy {
  readonly #options: GuardedProxyOptions
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()
  readonly #refusals = new Map<string, ProxyRefusal>()
  #bytes = 0

  private constructor(options: GuardedProxyOptions) {
    this.#options = options
    this.#server = createServer({ keepAlive: true })
    this.#server.on('request', (request, response) => {
      // Chromium sends a request again, also a POST, when a connection that it reuses is closed without a response
      response.shouldKeepAlive = false
      void this.#pass(request, response)
    })
    this.#server.on('connect', (request, socket) => void this.#tunnel(request, socket))
    this.#server.on('connection', (socket) => this.#hold(socket))
    this.#server.on('clientError', (_error, socket) => socket.destroy())
    this.#server.on('upgrade', (_request, socket) => socket.destroy())
  }

  /** Opens a proxy on a free port of this machine. */
  static async open(options: GuardedProxyOptions): Promise<GuardedProxy> {
    const proxy = new GuardedProxy(options)
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject)
      proxy.#server.listen(0, '127.0.0.1', resolve)
    })
    return proxy
  }

  /** `http://127.0.0.1:port`. */
  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server.address())}`
  }

  /** Number of received bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns why the last connection to the host of this URL failed; undefined if none failed. */
  refusalOf(url: string): ProxyRefusal | undefined {
    if (this.#bytes > this.#options.maxBytes) return 'response_too_large'
    const parsed = URL.parse(url)
    return parsed === null ? undefined : this.#refusals.get(placeOf(parsed))
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const socket = await this.#connected(request.url ?? '')
    if (socket === null || response.destroyed) {
      socket?.destroy()
      request.socket.destroy()
      return
    }
    const { pathname, search, host } = new URL(request.url ?? '')
    const onward = startRequest({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: pathname + search,
      headers: { ...passedOn(request.rawHeaders), host, connection: 'close' },
      setHost: false,
    })
    onward.on('error', () => request.socket.destroy())
    onward.on('response', (answer) => {
      try {
        response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders))
      } catch {
        socket.destroy()
        request.socket.destroy()
        return
      }
      answer.on('error', () => request.socket.destroy())
      answer.pipe(response)
    })
    response.on('close', () => socket.destroy())
    request.on('error', () => socket.destroy())
    request.pipe(onward)
  }

  async #tunnel(request: IncomingMessage, client: Duplex): Promise<void> {
    client.on('error', () => client.destroy())
    const far = await this.#connected(`http://${request.url ?? ''}`)
    if (far === null || client.destroyed) {
      far?.destroy()
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      return
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    client.on('close', () => far.destroy())
    far.on('close', () => client.destroy())
    client.pipe(far)
    far.pipe(client)
  }

  /** Connects to the host of the URL; null, with the reason recorded, when that fails. */
  async #connected(text: string): Promise<Socket | null> {
    const url = URL.parse(text)
    if (url === null || this.#sockets.size > maxConnections || this.#bytes > this.#options.maxBytes) return null
    const { guard } = this.#options
    try {
      guard.check(`http://${url.host}/`)
      const socket = await guard.connect({ hostname: url.hostname.replace(/^\[|\]$/g, ''), port: Number(portIn(url)) })
      socket.on('error', () => socket.destroy())
      socket.on('data', (part: Buffer) => this.#count(part.length))
      this.#hold(socket)
      this.#refusals.delete(placeOf(url))
      return socket
    } catch (error) {
      this.#note(placeOf(url), refusalFor(error))
      return null
    }
  }

  /** Records a refusal. A page may name any number of hosts, so only the latest are kept. */
  #note(place: string, refusal: ProxyRefusal): void {
    this.#refusals.delete(place)
    this.#refusals.set(place, refusal)
    const [oldest] = this.#refusals.keys()
    if (this.#refusals.size > maxRefusals && oldest !== undefined) this.#refusals.delete(oldest)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#options.maxBytes) return
    for (const socket of this.#sockets) socket.destroy()
  }

  #hold(socket: Duplex): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

const portIn = ({ port, protocol }: URL): string => (port !== '' ? port : protocol === 'https:' ? '443' : '80')

/** Key of a host: host and port only, since tunnels (`host:443`) do not state a protocol. */
const placeOf = (url: URL): string => `${url.hostname}:${portIn(url)}`

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0

/** Forwarded headers, collected in a map because a page chooses their names, such as `constructor`. */
const passedOn = (rawHeaders: readonly string[]): Record<string, string[]> => {
  const headers = new Map<string, string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (hopHeaders.has(name)) continue
    const values = headers.get(name) ?? []
    values.push(rawHeaders[at + 1] ?? '')
    headers.set(name, values)
  }
  return Object.fromEntries(headers)
}

const refusalFor = (error: unknown): ProxyRefusal => {
  if (error instanceof SsrfRefused) return 'unsafe_url'
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'].includes(code)) return 'dns_unavailable'
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT' ? 'fetch_timeout' : 'fetch_failed'
}
