import { isPassing, TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { readFrames } from './frames.ts'
import { beforeNext, onChange, page } from './page.ts'
import type { Query, Troupe } from './troupe.ts'

/**
 * How a session is connected to its log: `idle` without a reader, `offline` without a network, `ended` for good, because
 * the session is gone or the server refuses.
 */
export type Connection = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'offline' | 'ended'

/** Where to follow a log, and who hears of it. */
export interface FollowOptions {
  readonly client: Troupe
  readonly sessionId: string
  /** Sequence of the last event that the reader has; -1: it has nothing, and begins with a snapshot. */
  readonly after: number
  readonly signal: AbortSignal
  /** Gets every later event once, in order, in the batches in which they arrive. */
  readonly take: (events: readonly SessionEvent[]) => void
  readonly onStatus?: (status: Connection, error?: TroupeError | null) => void
}

/** Reads one connection until it ends, or `take` returns false; whatever arrives is taken, also if it says nothing. */
export type Transport = (reading: Reading) => Promise<void>

/** One connection to read from. */
interface Reading {
  readonly client: Troupe
  readonly sessionId: string
  readonly after: number
  readonly signal: AbortSignal
  readonly take: (events: readonly SessionEvent[]) => boolean
}

/** Time in ms after which a connection has shown that the next one may be tried at once. */
const livedMs = 1000

/** Time in ms in which a stream has to begin. */
const openingMs = 10_000

/**
 * Follows a session's log until the signal aborts: reconnects after whatever breaks, drops what it has had, and reads
 * again after a hole.
 *
 * @throws {TroupeError} (rejects) if the server refuses for good, or the session was deleted
 */
export const follow = async ({ take, onStatus = () => {}, ...options }: FollowOptions): Promise<void> => {
  const { client, signal } = options
  const { transport = streamEvents, keepAliveMs = 15_000 } = client.options
  let last = options.after
  let tries = 0
  /** The event before a hole that is read again: what follows is all that the log has. */
  let gap = -1
  // what an outage has taught holds no longer
  onChange(['online', 'visibilitychange'], () => (tries = 0), signal)
  onStatus('connecting')
  while (!signal.aborted) {
    const over = new AbortController()
    const since = Date.now()
    const end = () => over.abort()
    let watchdog = setTimeout(end, openingMs)
    const taken: Reading['take'] = (events) => {
      clearTimeout(watchdog)
      watchdog = setTimeout(end, 2.2 * keepAliveMs)
      onStatus('live')
      let isWhole = true
      const fresh = events.filter(({ id, event }) => {
        if (!isWhole || id <= last) return false
        // After a crash the log leaves sequences out before these.
        isWhole = id === last + 1 || last < 0 || gap === last || /(restart|fail)ed$/.test(event)
        if (isWhole) last = id
        else gap = last
        return isWhole
      })
      if (fresh.length) take(fresh)
      return isWhole
    }
    // a connection may have died with the network that it was on
    onChange(['online', 'offline'], end, over.signal)
    signal.addEventListener('abort', end, over)
    const reading = transport({ ...options, after: last, signal: over.signal, take: taken })
    const cause: unknown = await reading.catch((failure) => failure)
    const error = cause instanceof TroupeError ? cause : null
    clearTimeout(watchdog)
    end()
    if (signal.aborted) return
    // one that ends as soon as it began is as bad as none
    if (Date.now() - since > livedMs) tries = 0
    // an older server has no snapshots, only the whole log
    if (error?.param === 'snapshot') last = 0
    else if (error && !isPassing(error)) {
      onStatus('ended', error)
      throw error
    }
    onStatus(page.navigator?.onLine === false ? 'offline' : 'reconnecting', tries ? error : null)
    await beforeNext(tries++, error, signal)
  }
}

/** Parameters of a stream: short names as in the log, and restarts, which the reader follows. */
export const queryOf = (after: number): Query => ({
  [after < 0 ? 'snapshot' : 'after']: after < 0 || after,
  restarts: true,
  event_names: 'short',
})

/** Reads sessions as server-sent events. */
const streamEvents: Transport = async ({ client, sessionId, after, signal, take }) => {
  const options = { query: queryOf(after), signal, retryForMs: 0 }
  await readFrames(await client.request('GET', `/v1/sessions/${sessionId}/stream`, options), take)
}
