import type { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'

/** What is used of the driver's connection. */
interface DriverConnection {
  readonly socket: EventEmitter
  cleanup(error: Error): void
}

const require = createRequire(import.meta.url)

/**
 * Lets a command fail whose connection ends while it is being written.
 *
 * The driver (7.8.0, and 7.9.0 as well) then waits for the socket's `drain` or `error`, and a destroyed socket emits
 * neither: a request that meets the moment between the end of a connection and its `close` event never gets an answer,
 * and its connection never returns to the pool. The driver checks for the connection's error after `drain`.
 */
export const failCutWrites = (): void => {
  const {
    Connection,
  }: { readonly Connection: { readonly prototype: DriverConnection } } = require('mongodb/lib/cmap/connection.js')
  const { prototype } = Connection
  const { cleanup } = prototype
  if (cleanup.name !== 'cleanup') return
  prototype.cleanup = function endWrites(this: DriverConnection, error) {
    cleanup.call(this, error)
    this.socket.emit('drain')
  }
}
