import { createRequire } from 'node:module'

/** Types of the parts of uWebSockets.js in use. Its package has no types under the alias, and looser ones upstream. */
export interface Uws {
  App(): UwsApp
  us_listen_socket_close(token: UwsListenSocket): void
  us_socket_local_port(token: UwsListenSocket): number
  /** Sets a switch of the library; 'silent' omits the `uWebSockets` header. */
  _cfg(name: string): void
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp
  ws(pattern: string, behaviour: UwsBehaviour): UwsApp
  /**
   * Registers a listener for connections that open (`change` 1) and close (-1), except those that have become a
   * WebSocket.
   */
  filter(listener: (response: UwsResponse, change: number) => void): UwsApp
  listen(host: string, port: number, options: number, listening: (token: UwsListenSocket | false) => void): UwsApp
  /** Closes every socket, listening or not. */
  close(): void
}

/** Opaque. */
export type UwsListenSocket = object

/** Valid only until the handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string
  getUrl(): string
  getQuery(): string | undefined
  forEach(visit: (name: string, value: string) => void): void
}

/** Throws on any call after the end or the abort of its request. */
export interface UwsResponse {
  writeStatus(status: string): UwsResponse
  writeHeader(name: string, value: string): UwsResponse
  /** False when the socket's own buffer is not empty afterwards. */
  write(part: string | Uint8Array): boolean
  end(body?: string | Uint8Array, closeConnection?: boolean): void
  /**
   * Sends what the socket accepts of a body of `totalBytes`, and buffers nothing.
   *
   * @returns whether all of `part` was accepted, and whether the answer is complete.
   */
  tryEnd(part: Uint8Array, totalBytes: number): [taken: boolean, done: boolean]
  /** Call without arguments only: with any, even undefined, it writes a wrong length and the response never ends. */
  endWithoutBody(): void
  close(): void
  cork(write: () => void): void
  onData(listener: (part: ArrayBuffer, last: boolean) => void): void
  onAborted(listener: () => void): void
  /** `offset`: bytes of the body that `tryEnd` has sent. */
  onWritable(listener: (offset: number) => boolean): void
  pause(): void
  resume(): void
  getRemoteAddressAsText(): ArrayBuffer
  upgrade(data: UwsSocketData, key: string, protocol: string, extensions: string, context: UwsUpgradeContext): void
}

/** Opaque. */
export type UwsUpgradeContext = object

export interface UwsBehaviour {
  readonly maxPayloadLength: number
  /** Bytes; 0 for no limit. Beyond a limit, messages are dropped silently. */
  readonly maxBackpressure: number
  /** Closes the connection beyond that limit. */
  readonly closeOnBackpressureLimit: boolean
  /** Seconds without a byte before the connection is closed (pings are sent earlier). */
  readonly idleTimeout: number
  readonly sendPingsAutomatically: boolean
  readonly upgrade: (response: UwsResponse, request: UwsRequest, context: UwsUpgradeContext) => void
  readonly open: (socket: UwsSocket) => void
  readonly message: (socket: UwsSocket, message: ArrayBuffer, isBinary: boolean) => void
  readonly drain: (socket: UwsSocket) => void
  readonly close: (socket: UwsSocket) => void
}

/** Listener for the events of one socket. */
export interface UwsSocketListener {
  opened(socket: UwsSocket): void
  received(message: ArrayBuffer, isBinary: boolean): void
  writable(): void
  gone(): void
}

/** User data given to `upgrade` and returned by `getUserData` in every callback. */
interface UwsSocketData {
  readonly listener: UwsSocketListener
}

export interface UwsSocket {
  getUserData(): UwsSocketData
  /** 1 sent, 0 buffered, 2 dropped. */
  send(message: string, isBinary: boolean, compress: boolean): number
  getBufferedAmount(): number
  /** Sends a close frame, then ends. */
  end(code: number, reason: string): void
  /** Cuts the connection. */
  close(): void
}

/** Maximum size of a request's head, the same as that of node:http. A larger one is answered with 431. */
const maxHeadBytes = 16 * 1024

/**
 * Loads the native library.
 *
 * @throws when there is no build for this platform or Node version.
 */
export const loadUws = (): Uws => {
  // read once, when the library loads: its default of 4 KiB can be less than cookies, a token and tracing headers. An
  // empty value counts as 0, and the library would then answer no request
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = process.env.UWS_HTTP_MAX_HEADERS_SIZE?.trim() || String(maxHeadBytes)
  const uws: Uws = createRequire(import.meta.url)('uWebSockets.js')
  uws._cfg('silent')
  return uws
}
