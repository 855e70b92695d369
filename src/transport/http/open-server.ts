import type { Logger } from 'pino'
import { BodyPace } from './body-pace.ts'
import { ConnectionLimit } from './connection-limit.ts'
import type { HttpHandler, HttpServer } from './http-port.ts'
import { nodeServer } from './node/node-server.ts'
import { loadUws, type Uws } from './uws/uws-binding.ts'
import { uwsServer } from './uws/uws-server.ts'

export interface ServerOptions {
  /** Forces one implementation. */
  readonly adapter?: 'uws' | 'node'
  /** Absent: a limit of half of the file descriptors of the process. */
  readonly connections?: ConnectionLimit
  /** Absent: a grace period of 20 seconds, then 16 KB/s. */
  readonly pace?: BodyPace
}

/** Opens the fastest available server: uWebSockets.js, or node:http where it has no build. */
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
