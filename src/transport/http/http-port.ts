import type { ConnectionLimit } from './connection-limit.ts'

/**
 * The small HTTP port that both servers (uWebSockets.js, node:http) implement; one suite runs over both.
 * Nothing above it knows which one serves.
 */
export interface HttpServer {
  readonly name: 'uws' | 'node'
  readonly connections: Readonly<Pick<ConnectionLimit, 'most' | 'open' | 'refused'>>
  /** Starts to listen; resolves with the port in use (`port` 0 takes a free one). @throws {CannotListen} */
  listen(host: string, port: number): Promise<number>
  /** Stops accepting, lets open responses end for `graceMs`, then closes what is left. */
  close(graceMs: number): Promise<void>
}

/** A request whose head has arrived. Headers stay readable for ever. */
export interface HttpRequest {
  readonly method: string
  /** Path without the query, still percent-encoded. */
  readonly path: string
  /** What follows `?`, without it; '' for none. */
  readonly query: string
  /** A header by its lower-case name; undefined when absent. */
  header(name: string): string | undefined
  /** Costs something to find out. '' once the answer has begun or the peer is gone, unless it was read before. */
  readonly remoteAddress: string
  /** The whole body. @throws {BodyTooLarge} over `maxBytes` (also at once on a larger Content-Length); {BodyTooSlow} below a least pace; {ConnectionClosed} when the peer goes. */
  body(maxBytes: number): Promise<Buffer>
}

/** The answer to one request: `send` once, or `stream` once. Calls after the peer is gone, or after the end, do nothing. */
export interface HttpResponse {
  /** Sends the whole answer. `body` '' sends none; a HEAD request gets the head that belongs to `body`. */
  send(status: number, headers: Headers, body: string | Uint8Array): void
  /** Opens the body. The head travels with the first part, so write one soon. */
  stream(status: number, headers: Headers): BodyWriter
  /** An answer has been begun: `send` and `stream` do nothing any more. */
  readonly begun: boolean
  /** Ends the exchange after an error: 500 without a body, or a cut connection where an answer has begun. Never throws. */
  fail(): void
  /** Called once when the peer goes before the answer has ended. One listener; a later call replaces it. */
  onClose(listener: () => void): void
  /** Called once when the connection has taken the whole answer, or the peer is gone; at once where it is so. One listener; a later call replaces it. */
  onOver(listener: () => void): void
  /** Nothing can be sent any more: the peer is gone, or the answer has ended. */
  readonly closed: boolean
}

/**
 * Header pairs, lower-case names, in order. The server adds content-length, transfer-encoding, connection and date.
 * A value with a line break or another control character is refused with a TypeError before anything is sent.
 */
export type Headers = readonly (readonly [name: string, value: string])[]

/** A response body that is written in parts. */
export interface BodyWriter {
  /** False when the peer reads slower than we write: wait for `onDrain`. The part is taken all the same. */
  write(part: string | Uint8Array): boolean
  /** Called whenever a writer that had answered false may go on. One listener; a later call replaces it. */
  onDrain(listener: () => void): void
  /** Bytes taken but not yet handed to the kernel. */
  readonly bufferedBytes: number
  end(part?: string | Uint8Array): void
  /** Ends the connection without a clean end of the body: the reader sees a broken stream. */
  abort(): void
}

/** The largest WebSocket message that is taken; a larger one ends the connection. */
export const websocketMaxBytes = 1024 * 1024

/** One accepted WebSocket connection. Each `on…` has one listener; a later call replaces it. Text messages only, in text frames or binary ones: bytes that are not UTF-8 are answered with close code 1003. */
export interface WebSocketPeer {
  /** False when the peer reads too slowly (see `bufferedBytes`): wait for `onDrain`. The text is taken all the same. */
  send(text: string): boolean
  readonly bufferedBytes: number
  onMessage(listener: (text: string) => void): void
  /** Called once, whichever side closed. Calls after it do nothing. */
  onClose(listener: () => void): void
  onDrain(listener: () => void): void
  /** Sends a close frame and ends the connection. */
  close(code: number, reason: string): void
}

/** What a server is given: it answers every request, and says which upgrades it takes. */
export interface HttpHandler {
  request(request: HttpRequest, response: HttpResponse): void
  /** Decides on an upgrade before it is made. `accept` gets the peer; `refuse` is an ordinary answer. */
  upgrade(request: HttpRequest): Promise<UpgradeDecision>
}

export type UpgradeDecision =
  | { readonly accept: (peer: WebSocketPeer) => void }
  | { readonly refuse: { readonly status: number; readonly headers: Headers; readonly body: string } }

/** The body is larger than the route takes: answered 413. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The body came too slowly: answered 408, and the connection closes. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow'
}

/** The peer went away before its request was whole. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed'
}
