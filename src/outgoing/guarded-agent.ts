import type { Agent, buildConnector, Pool } from 'undici'
import { undici } from './undici.ts'
import { boundSilence } from './wire-bytes.ts'

/** A connection that no one uses is closed after this time, in ms, however long its server says that it may stay. */
const idleMaxMs = 4_000

/**
 * Connections to servers that customers name, who may be hostile (specs/decisions/0233): one that lies idle is closed in seconds,
 * one that brings bytes and no answer is cut, and an origin that is no longer used is forgotten.
 */
export const openGuardedAgent = (connect: buildConnector.connector): Agent =>
  new (undici().Agent)({
    allowH2: false,
    keepAliveMaxTimeout: idleMaxMs,
    connect: (target, callback) => {
      connect(target, (...[error, socket]: Parameters<buildConnector.Callback>) => {
        if (error !== null) return callback(error, null)
        boundSilence(socket)
        callback(null, socket)
      })
    },
    factory: (origin, options) => forgotten(new (undici().Pool)(origin, options)),
  })

/**
 * The agent looks whether a pool is still used when a connection of it ends, and after a request that was given up the pool
 * counts as busy at that moment: every host that stalled once would be kept for good.
 */
const forgotten = (pool: Pool): Pool => {
  let isSaidAgain = false
  pool.on('disconnect', (origin, targets, error) => {
    if (isSaidAgain) return
    setImmediate(() => {
      if (pool.destroyed || pool.closed) return
      isSaidAgain = true
      pool.emit('disconnect', origin, targets, error)
      isSaidAgain = false
    })
  })
  return pool
}
