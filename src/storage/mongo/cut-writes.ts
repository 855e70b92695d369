/// <reference path="./driver-connection.d.ts" />
import { Connection } from 'mongodb/lib/cmap/connection.js'

/**
 * Lets a command fail whose connection ends while it is being written.
 *
 * The driver (7.8.0, and 7.9.0 as well) then waits for the socket's `drain` or `error`, and a destroyed socket emits
 * neither: a request that meets the moment between the end of a connection and its `close` event never gets an answer,
 * and its connection never returns to the pool. The driver checks for the connection's error after `drain`.
 */
export const failCutWrites = (): void => {
  const { prototype } = Connection
  const { cleanup } = prototype
  if (cleanup.name !== 'cleanup') return
  prototype.cleanup = function endWrites(this: Connection, error) {
    cleanup.call(this, error)
    this.socket.emit('drain')
  }
}
