import { endedEvent, logName } from './event-log.js'
import { eventNames } from './event-names.js'

/**
 * @typedef {'connecting' | 'live' | 'reconnecting' | 'ended'} StreamStatus
 *
 * The part of an EventSource that is used.
 *
 * @typedef {object} Source
 * @property {number} readyState
 * @property {((event: Event) => void) | null} onopen
 * @property {((event: Event) => void) | null} onerror
 * @property {(name: string, listener: (frame: { lastEventId: string, data: string }) => void) => void} addEventListener
 * @property {() => void} close
 *
 * @typedef {object} FollowOptions
 * @property {() => string} url returns the URL of the stream from the current position
 * @property {(event: ActorEvent) => void} onEvent
 * @property {(status: StreamStatus) => void} onStatus
 * @property {() => Promise<boolean>} mayRetry called when the server refuses or ends the stream; returns whether to try
 *   again
 * @property {(url: string) => Source} [open]
 */

/** `EventSource.CLOSED`. */
const closed = 2

/** Delays between attempts to open a refused stream, in ms; the last one repeats. */
const retryMs = [500, 1000, 2000, 5000, 10_000]

/**
 * Follows an actor's log. A broken stream is resumed by the browser itself, after the last event received; a refused
 * one is opened again after a delay.
 *
 * @param {FollowOptions} options
 * @returns {() => void} stops following
 */
export const follow = ({ url, onEvent, onStatus, mayRetry, open = (each) => new EventSource(each) }) => {
  let tries = 0
  let timer = 0
  /** @type {Source | null} */
  let source = null
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
  /** @param {Source} refused */
  const retry = async (refused) => {
    if (!(await mayRetry()) || source !== refused) return
    timer = setTimeout(start, retryMs[Math.min(tries++, retryMs.length - 1)])
  }
  onStatus('connecting')
  start()
  return stop
}

/** @param {string} name @param {{ lastEventId: string, data: string }} frame @returns {ActorEvent} */
const eventOf = (name, frame) => ({
  sequence: Number(frame.lastEventId),
  event_type: logName(name),
  turn_number: null,
  payload: JSON.parse(frame.data),
  created_at: new Date().toISOString(),
})
