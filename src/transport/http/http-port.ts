import type { ConnectionLimit } from './connection-limit.ts'

/**
 * The HTTP port that both servers (uWebSockets.js, node:http) implement; one test suite runs over both. Callers cannot
 * observe which one serves.
 */
export interface HttpServer {
  readonly name: 'uws' | 'node'
  readonly connections: Readonly<Pick<ConnectionLimit, 'max' | 'open' | 'refused'>>
  /** Starts to listen; resolves with the port in use (`port` 0 picks a free one). @throws {CannotListen} */
  listen(host: string, port: number): Promise<number>
  /** Stops accepting, lets open responses end for `graceMs`, then closes the remaining connections. */
  close(graceMs: number): Promise<void>
}

/** A request whose head has arrived. Headers stay readable after the answer. */
export interface HttpRequest {
  readonly method: string
  /** Path without the query, still percent-encoded. */
  readonly path: string
  /** The query without its `?`; '' if there is none. */
  readonly query: string
  /** Whether a tool of `/mcp` makes the request in this process: only then is an app's access token accepted. */
  readonly isOfTool?: true
  /** Returns a header by its lower-case name; undefined when absent. */
  header(name: string): string | undefined
  /**
   * The peer's address, a costly read. '' once the answer has begun or the peer has disconnected, unless read before.
   */
  readonly remoteAddress: string
  /**
   * Reads the whole body.
   *
   * @throws {BodyTooLarge} over `maxBytes` (at once if Content-Length exceeds it); {BodyTooSlow} below a minimum rate;
   * {ConnectionClosed} when the peer disconnects; the error with which the listener refuses the rest.
   */
  body(maxBytes: number, options?: BodyOptions): Promise<Buffer>
}

/** How a body is read. */
export interface BodyOptions {
  readonly listener?: BodyListener | null
  /** Whether the body must arrive at the higher of the two minimum rates (body-pace.ts); default false. */
  readonly isHurried?: boolean
}

/** Follows a body while it arrives. */
export interface BodyListener {
  /** Called with the number of bytes that have arrived so far. */
  arrived(bytes: number): void
  /** Registers a function that refuses the rest of the body, and fails its reader with the error. */
  onRefused(refuse: (error: Error) => void): void
}

/**
 * The answer to one request: call `send` once, or `stream` once. Calls after the peer has disconnected, or after the
 * end, do nothing.
 */
export interface HttpResponse {
  /** Sends the whole answer. `body` '' sends no body; a HEAD request gets the head that belongs to `body`. */
  send(status: number, headers: Headers, body: string | Uint8Array): void
  /** Opens the body. The head travels with the first part, so write one soon. */
  stream(status: number, headers: Headers): BodyWriter
  /** Whether an answer has begun; `send` and `stream` then do nothing. */
  readonly begun: boolean
  /** Ends the exchange after an error: 500 without a body, or a cut connection if an answer has begun. Never throws. */
  fail(): void
  /**
   * Registers a listener, called once when the peer disconnects before the answer has ended. A later call replaces it.
   */
  onClose(listener: () => void): void
  /**
   * Registers a listener, called once when the whole answer has been sent or the peer has disconnected, or at once if
   * that is already so. A later call replaces it.
   */
  onOver(listener: () => void): void
  /** Whether nothing can be sent any more: the peer has disconnected, or the answer has ended. */
  readonly closed: boolean
}

/**
 * Header pairs, lower-case names, in order. The server adds content-length, transfer-encoding, connection and date.
 * A value with a line break or another control character is refused with a TypeError before anything is sent.
 */
export type Headers = readonly (readonly [name: string, value: string])[]

/** A response body that is written in parts. */
export interface BodyWriter {
  /** Writes a part. False when the peer reads too slowly: wait for `onDrain`. The part is accepted in any case. */
  write(part: string | Uint8Array): boolean
  /** Registers a listener, called whenever a writer that returned false may continue. A later call replaces it. */
  onDrain(listener: () => void): void
  /** Bytes accepted but not yet handed to the kernel. */
  readonly bufferedBytes: number
  end(part?: string | Uint8Array): void
  /** Ends the connection without a clean end of the body: the reader sees a broken stream. */
  abort(): void
}

/** Maximum size of a WebSocket message; a larger one ends the connection. */
export const websocketMaxBytes = 1024 * 1024

/**
 * One accepted WebSocket connection. Each `on…` has one listener; a later call replaces it. Messages are text, in text
 * frames or binary ones: bytes that are not UTF-8 are answered with close code 1003.
 */
export interface WebSocketPeer {
  /**
   * Sends a text. False when the peer reads too slowly (see `bufferedBytes`): wait for `onDrain`. The text is accepted
   * in any case.
   */
  send(text: string): boolean
  readonly bufferedBytes: number
  onMessage(listener: (text: string) => void): void
  /** Registers a listener, called once, whichever side closed. Calls on the peer after it do nothing. */
  onClose(listener: () => void): void
  onDrain(listener: () => void): void
  /** Sends a close frame and ends the connection. */
  close(code: number, reason: string): void
}

/** Answers every request of a server, and decides on upgrades. */
export interface HttpHandler {
  request(request: HttpRequest, response: HttpResponse): void
  /** Decides on an upgrade before it is made. `accept` is called with the peer; `refuse` is an ordinary answer. */
  upgrade(request: HttpRequest): Promise<UpgradeDecision>
}

export type UpgradeDecision =
  | {
      readonly accept: (peer: WebSocketPeer) => void
      /** Subprotocol to answer, one of those that the client offered. */
      readonly protocol?: string
    }
  | { readonly refuse: { readonly status: number; readonly headers: Headers; readonly body: string } }

/** The body is larger than the route allows: answered with 413. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The body arrived too slowly: answered with 408, and the connection closes. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow'
}

/** The peer disconnected before its request was complete. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed'
}
