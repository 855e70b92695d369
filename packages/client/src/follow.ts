import { InvalidRequestError, isPassing, TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { Frames } from './frames.ts'
import { backOff, onWake, pause } from './page.ts'
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
  readonly onEvents: (events: readonly SessionEvent[]) => void
  readonly onStatus?: (status: Connection, error: TroupeError | null) => void
}

/** Longest delay in ms between attempts during the first half minute of an outage, and after it. */
const [soonMs, laterMs, soonFor] = [400, 5000, 30_000]

/** Time in ms in which a stream has to begin. */
const openingMs = 10_000

/**
 * Follows a session's log until the signal aborts: reconnects after whatever breaks, drops what it has had, and reads
 * again after a hole.
 *
 * @throws {TroupeError} (rejects) if the server refuses for good, or the session was deleted
 */
export const follow = (options: FollowOptions): Promise<void> => new Follower(options).run()

class Follower {
  readonly #options: FollowOptions
  #last: number
  #tries = 0
  #failingSince = 0
  /** Event before a gap that has been read again already: the log itself has it. */
  #gapAfter = -1

  constructor(options: FollowOptions) {
    this.#options = options
    this.#last = options.after
  }

  async run(): Promise<void> {
    const { signal } = this.#options
    this.#report('connecting', null)
    while (!signal.aborted) {
      const error = await this.#once()
      if (signal.aborted) return
      if (error !== null && !isPassing(error)) {
        this.#report('ended', error)
        throw error
      }
      if (this.#tries === 0) this.#failingSince = Date.now()
      this.#report('reconnecting', this.#tries > 0 ? error : null)
      await pause(backOff(this.#tries++, Date.now() - this.#failingSince < soonFor ? soonMs : laterMs), signal)
    }
  }

  #report(status: Connection, error: TroupeError | null): void {
    this.#options.onStatus?.(status, error)
  }

  /** One connection. @returns why it ended; null if the reader should simply connect again. */
  async #once(): Promise<TroupeError | null> {
    const { client, signal } = this.#options
    const connection = new AbortController()
    const end = () => connection.abort()
    let seen = Date.now()
    let patienceMs = openingMs
    const watchdog = setInterval(() => {
      if (Date.now() - seen > patienceMs) end()
    }, 1000)
    const stopListening = onWake((wake) => {
      // a connection may have died with the network that it was on
      if (wake !== 'visible') end()
      if (wake === 'offline') this.#report('offline', null)
    })
    signal.addEventListener('abort', end)
    const heard = () => {
      seen = Date.now()
      if (patienceMs === openingMs) this.#report('live', null)
      patienceMs = client.silenceMs
      this.#tries = 0
    }
    try {
      const read = client.transport ?? streamEvents
      await read(this.#options, { after: this.#last, signal: connection.signal, heard, take: this.#take })
      return null
    } catch (error) {
      if (!(error instanceof TroupeError)) return null
      if (error.param !== 'snapshot') return error
      // an older server has the whole log only
      this.#last = 0
      return null
    } finally {
      clearInterval(watchdog)
      stopListening()
      signal.removeEventListener('abort', end)
      end()
    }
  }

  /** Passes on what is new. @returns false if the connection should be given up, to read a hole. */
  readonly #take = (events: readonly SessionEvent[]): boolean => {
    const fresh: SessionEvent[] = []
    let isWhole = true
    for (const event of events) {
      if (event.event === 'stream.ended') this.#ended(event.data.reason)
      if (event.id <= this.#last) continue
      if (this.#last >= 0 && event.id > this.#last + 1 && this.#isHole(event)) {
        isWhole = false
        break
      }
      this.#last = event.id
      fresh.push(event)
    }
    if (fresh.length > 0) this.#options.onEvents(fresh)
    return isWhole
  }

  /** After a crash the log leaves sequences out before these; any other gap is one only if it is there again. */
  #isHole({ event }: SessionEvent): boolean {
    if (event === 'turn.restarted' || event === 'turn.failed' || this.#gapAfter === this.#last) return false
    this.#gapAfter = this.#last
    return true
  }

  #ended(reason: 'credential_ended' | 'deleted'): void {
    const { client } = this.#options
    if (reason === 'deleted')
      throw new InvalidRequestError('The session was deleted.', { code: 'not_found', status: 404 })
    if (!client.credential.refused())
      throw new InvalidRequestError('The credential has ended: pass token to new Troupe(), which fetches another.', {
        code: 'unauthenticated',
        status: 401,
      })
  }
}

/** Reads one connection until it ends. */
export type Transport = (options: FollowOptions, reading: Reading) => Promise<void>

/** One connection to read from. */
interface Reading {
  readonly after: number
  readonly signal: AbortSignal
  /** Called for whatever arrives, also if it says nothing. */
  readonly heard: () => void
  readonly take: (events: readonly SessionEvent[]) => boolean
}

/** Parameters of a stream: short names as in the log, and restarts, which the reader follows. */
export const queryOf = (after: number): Query => ({
  ...(after < 0 ? { snapshot: true } : { after }),
  restarts: true,
  event_names: 'short',
})

/** Reads sessions as server-sent events. */
const streamEvents: Transport = async ({ client, sessionId }, { after, signal, heard, take }) => {
  const options = { query: queryOf(after), signal, attempts: 1 }
  const response = await client.request('GET', `/v1/sessions/${sessionId}/stream`, options)
  const frames = new Frames()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    heard()
    if (!take(frames.push(part.value))) break
  }
}
