import { shownPayload } from '#records/shown-event.ts'
import type { LogEvent } from '#storage/ports.ts'

/** Name of an event on the wire: the text event has a long form by default (`sessions.stream`). */
export const wireName = (eventType: string, shortNames: boolean): string =>
  eventType === 'output_text.delta' && !shortNames ? 'response.output_text.delta' : eventType

const frame = (event: LogEvent, shortNames: boolean): string =>
  `event: ${wireName(event.event_type, shortNames)}\nid: ${event.sequence}\ndata: ${JSON.stringify(shownPayload(event))}\n\n`

const build = (events: readonly LogEvent[], shortNames: boolean): string => {
  let text = ''
  for (const event of events) text += frame(event, shortNames)
  return text
}

/**
 * Cache of the last batch's text: readers of one actor get the same events one after the other, in a batch or alone.
 */
class LastText {
  readonly #shortNames: boolean
  #first: LogEvent | undefined
  #last: LogEvent | undefined
  #text = ''

  constructor(shortNames: boolean) {
    this.#shortNames = shortNames
  }

  of(events: readonly LogEvent[]): string {
    const first = events[0]
    const last = events.at(-1)
    if (first === this.#first && last === this.#last) return this.#text
    this.#first = first
    this.#last = last
    this.#text = build(events, this.#shortNames)
    return this.#text
  }
}

const short = new LastText(true)
const long = new LastText(false)

/** Cache of the last WebSocket frame: sockets of one session get the same event one after the other. */
const lastFrame: { event: LogEvent | null; shortNames: boolean; text: string } = {
  event: null,
  shortNames: false,
  text: '',
}

/** An event as a frame of a WebSocket. The text of an event that goes to several sockets is built once. */
export const socketFrame = (event: LogEvent, shortNames: boolean): string => {
  if (lastFrame.event === event && lastFrame.shortNames === shortNames) return lastFrame.text
  const { event_type, sequence } = event
  const frame = { event: wireName(event_type, shortNames), id: sequence, data: shownPayload(event) }
  return Object.assign(lastFrame, { event, shortNames, text: JSON.stringify(frame) }).text
}

/** SSE frames of a batch of events. The text of a batch that goes to several readers is built once. */
export const sseFrames = (events: readonly LogEvent[], shortNames: boolean): string =>
  (shortNames ? short : long).of(events)
