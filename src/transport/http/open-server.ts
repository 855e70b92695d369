import type { Logger } from 'pino'
import { BodyPace } from './body-pace.ts'
import { ConnectionLimit } from './connection-limit.ts'
import type { HttpHandler, HttpServer } from './http-port.ts'
import { nodeServer } from './node/node-server.ts'
import { loadUws, type Uws } from './uws/uws-binding.ts'
import { uwsServer } from './uws/uws-server.ts'

/** How a server is opened. */
export interface ServerOptions {
  /** Forces one. */
  readonly adapter?: 'uws' | 'node'
  /** Absent: half of the files that the process may open. */
  readonly connections?: ConnectionLimit
  /** Absent: 20 seconds and 16 KB a second. */
  readonly pace?: BodyPace
}

/**
 * The fastest server that runs here: uWebSockets.js, or node:http where there is no build of it.
 *
 * @throws when `uws` is forced and does not load.
 */
export const openServer = (
  handler: HttpHandler,
  log: Logger,
  { adapter, connections = new ConnectionLimit(log), pace = new BodyPace() }: ServerOptions = {},
): HttpServer => {
  const parts = { log, connections, pace }
  if (adapter === 'node') return nodeServer(handler, parts)
  const uws = adapter === 'uws' ? loadUws() : tryUws(log)
  return uws === null ? nodeServer(handler, parts) : uwsServer(uws, handler, parts)
}

const tryUws = (log: Logger): Uws | null => {
  try {
    return loadUws()
  } catch (error) {
    log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'uwebsockets not available, using node:http',
    )
    return null
  }
}
