import type { Logger } from 'pino'
import type { HttpHandler, HttpServer } from './http-port.ts'
import { nodeServer } from './node/node-server.ts'
import { loadUws, type Uws } from './uws/uws-binding.ts'
import { uwsServer } from './uws/uws-server.ts'

/**
 * The fastest server that runs here: uWebSockets.js, or node:http where there is no build of it.
 *
 * @param adapter forces one. @throws when `uws` is forced and does not load.
 */
export const openServer = (handler: HttpHandler, log: Logger, adapter?: 'uws' | 'node'): HttpServer => {
  if (adapter === 'node') return nodeServer(handler, log)
  if (adapter === 'uws') return uwsServer(loadUws(), handler, log)
  const uws = tryUws(log)
  return uws === null ? nodeServer(handler, log) : uwsServer(uws, handler, log)
}

const tryUws = (log: Logger): Uws | null => {
  try {
    return loadUws()
  } catch (error) {
    log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'uwebsockets not available, using node',
    )
    return null
  }
}
