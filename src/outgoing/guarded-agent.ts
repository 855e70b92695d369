import type { Agent, buildConnector, Pool } from 'undici'
import { undici } from './undici.ts'
import { boundSilence } from './wire-bytes.ts'

/** An idle connection is closed after this time in ms, even if its server allows more. */
const idleMaxMs = 4_000

/**
 * Connections to servers that customers choose, which may be hostile (specs/decisions/0031): an idle one is closed
 * within seconds, one that receives bytes without an answer is cut, and an unused origin is forgotten.
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
 * Lets the agent drop an unused pool. The agent checks for that when a connection of the pool ends, but after an
 * aborted request the pool still counts as busy at that moment, so that every host that stalled once would be kept
 * forever. The event is therefore emitted again one turn later.
 */
const forgotten = (pool: Pool): Pool => {
  let isRepeated = false
  pool.on('disconnect', (origin, targets, error) => {
    if (isRepeated) return
    setImmediate(() => {
      if (pool.destroyed || pool.closed) return
      isRepeated = true
      pool.emit('disconnect', origin, targets, error)
      isRepeated = false
    })
  })
  return pool
}
