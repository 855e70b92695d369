import type { Dispatcher } from 'undici'
import { ConnectionLost, Http1Connection, type Origin, type WireRequest } from './http1-connection.ts'

/** A request for the origin of a pool. Header names and values are checked when their object is first seen. */
export interface PoolRequest {
  readonly path: string
  /** Pass the same object for each request: the serialised headers are cached by it. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of this request alone. */
  readonly once?: Readonly<Record<string, string>> | undefined
  readonly body: Uint8Array | string
}

/** How a pool is opened. */
export interface PoolOptions {
  readonly connections: number
  readonly connectTimeoutMs: number
  /** Default headers, for requests without a header of that name. */
  readonly headers?: PoolRequest['headers']
}

/**
 * Time in ms after which an idle connection is no longer used, since providers close idle connections at some point.
 */
const idleMaxMs = 4_000

/** Maximum number of cached paths: some providers have the model, which callers choose, in the path. */
const maxPaths = 64

/**
 * Connections to one origin. The most recently used one is reused first, so that unneeded ones become idle and close.
 */
export class Http1Pool {
  readonly #origin: Origin
  readonly #host: string
  readonly #maxConnections: number
  readonly #headers: PoolRequest['headers']
  readonly #idle: Http1Connection[] = []
  readonly #all = new Set<Http1Connection>()
  readonly #waiting: WireRequest[] = []
  readonly #heads = new WeakMap<object, Map<string, string>>()
  #timer: NodeJS.Timeout | null = null

  constructor(origin: string, { connections, connectTimeoutMs, headers = {} }: PoolOptions) {
    const { protocol, hostname, port, host } = new URL(origin)
    const isTls = protocol === 'https:'
    const address = hostname.replace(/^\[|\]$/g, '')
    this.#origin = { isTls, host: address, port: Number(port) || (isTls ? 443 : 80), connectTimeoutMs }
    this.#host = host
    this.#maxConnections = connections
    this.#headers = headers
  }

  /** @throws {TypeError} for a header that cannot go over the wire. */
  dispatch({ path, headers, once, body }: PoolRequest, handler: Dispatcher.DispatchHandler): void {
    const head = once === undefined ? this.#head(path, headers) : this.#headOnce(path, headers, once)
    const request = { head, body, handler }
    const connection = this.#trusted() ?? (this.#all.size < this.#maxConnections ? this.#open() : null)
    if (connection === null) this.#waiting.push(request)
    else connection.send(request)
  }

  /** Ends all connections; requests in flight fail. */
  destroy(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    for (const { handler } of this.#waiting.splice(0)) {
      handler.onResponseError?.(neverSent, new ConnectionLost('closed'))
    }
    for (const connection of this.#all) connection.destroy(new ConnectionLost('closed'))
  }

  free(connection: Http1Connection): void {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      connection.send(next)
      return
    }
    connection.idleSince = performance.now()
    this.#idle.push(connection)
    this.#timer ??= setInterval(() => this.#sweep(), idleMaxMs / 2).unref()
  }

  gone(connection: Http1Connection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    const next = this.#waiting.shift()
    if (next !== undefined) this.#open().send(next)
  }

  #open(): Http1Connection {
    const connection = new Http1Connection(this.#origin, this)
    this.#all.add(connection)
    return connection
  }

  #trusted(): Http1Connection | null {
    const connection = this.#idle.pop()
    if (connection === undefined) return null
    if (performance.now() - connection.idleSince < idleMaxMs) return connection
    // the remaining ones have been idle for longer still
    this.#sweep()
    connection.destroy(new ConnectionLost('idle'))
    return null
  }

  #sweep(): void {
    const oldest = performance.now() - idleMaxMs
    const old = this.#idle.findIndex(({ idleSince }) => idleSince > oldest)
    for (const connection of this.#idle.splice(0, old < 0 ? this.#idle.length : old))
      connection.destroy(new ConnectionLost('idle'))
    if (this.#all.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #headOnce(path: string, headers: PoolRequest['headers'], once: PoolRequest['headers']): string {
    for (const name in once)
      if (name in headers || name in this.#headers)
        return headOf(path, this.#host, { ...this.#headers, ...headers, ...once })
    return this.#head(path, headers) + linesOf(once)
  }

  #head(path: string, headers: PoolRequest['headers']): string {
    let byPath = this.#heads.get(headers)
    if (byPath === undefined) {
      byPath = new Map()
      this.#heads.set(headers, byPath)
    }
    const known = byPath.get(path)
    if (known !== undefined) return known
    const made = headOf(path, this.#host, { ...this.#headers, ...headers })
    if (byPath.size < maxPaths) byPath.set(path, made)
    return made
  }
}

const neverSent: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
}

const token = /^[!#$%&'*+.^_`|~\w-]+$/
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const target = /^\/[\x21-\x7e]*$/

/** @throws {TypeError} for characters that could start another header or request. */
const headOf = (path: string, host: string, headers: PoolRequest['headers']): string => {
  if (!target.test(path)) throw new TypeError('the path has a character that is not allowed')
  return `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${linesOf(headers)}`
}

const linesOf = (headers: PoolRequest['headers']): string => {
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!token.test(name) || !fieldValue.test(value))
      throw new TypeError(`header ${name} has a character that is not allowed`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
