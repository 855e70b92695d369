import { type ActorEvent, endedEvent, logName } from './event-log.ts'
import { eventNames } from './event-names.ts'

type StreamStatus = 'connecting' | 'live' | 'reconnecting' | 'ended'

/** The part of an EventSource that is used. */
interface Source {
  readonly readyState: number
  onopen: unknown
  onerror: unknown
  readonly addEventListener: (name: string, listener: (frame: { lastEventId: string; data: string }) => void) => void
  readonly close: () => void
}

export interface FollowOptions {
  /** returns the URL of the stream from the current position */
  readonly url: () => string
  readonly onEvent: (event: ActorEvent) => void
  readonly onStatus: (status: StreamStatus) => void
  /** called when the server refuses or ends the stream; returns whether to try again */
  readonly mayRetry: () => Promise<boolean>
  readonly open?: (url: string) => Source
}

/** `EventSource.CLOSED`. */
const closed = 2

/** Delays between attempts to open a refused stream, in ms; the last one repeats. */
const retryMs = [500, 1000, 2000, 5000, 10_000]

/**
 * Follows an actor's log. A broken stream is resumed by the browser itself, after the last event received; a refused
 * one is opened again after a delay.
 *
 * @returns stops following
 */
export const follow = ({
  url,
  onEvent,
  onStatus,
  mayRetry,
  open = (each) => new EventSource(each),
}: FollowOptions): (() => void) => {
  let tries = 0
  let timer: ReturnType<typeof setTimeout> | 0 = 0
  let source: Source | null = null
  const stop = () => {
    clearTimeout(timer)
    source?.close()
    source = null
  }
  const start = () => {
    const current = open(url())
    source = current
    for (const name of eventNames) current.addEventListener(name, (frame) => onEvent(eventOf(name, frame)))
    // without this, the browser would open a stream that ended again, also when its actor was deleted
    current.addEventListener(endedEvent, ({ data }) => {
      current.close()
      const isDeleted = JSON.parse(data).reason === 'deleted'
      onStatus(isDeleted ? 'ended' : 'reconnecting')
      if (isDeleted) void mayRetry()
      else void retry(current)
    })
    current.onopen = () => {
      tries = 0
      onStatus('live')
    }
    current.onerror = () => {
      onStatus('reconnecting')
      if (current.readyState === closed) void retry(current)
    }
  }
  const retry = async (refused: Source) => {
    if (!(await mayRetry()) || source !== refused) return
    timer = setTimeout(start, retryMs[Math.min(tries++, retryMs.length - 1)])
  }
  onStatus('connecting')
  start()
  return stop
}

const eventOf = (name: string, frame: { lastEventId: string; data: string }): ActorEvent => ({
  sequence: Number(frame.lastEventId),
  event_type: logName(name),
  turn_number: null,
  payload: JSON.parse(frame.data),
  created_at: new Date().toISOString(),
})
