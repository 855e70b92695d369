import type { EventReader } from '#actors/call/speaker.ts'
import { shownPayload } from '#records/shown-event.ts'
import type { LogEvent } from '#storage/index.ts'

/** Name of an event on the wire: the text event has a long form by default (`sessions.stream`). */
export const wireName = (eventType: string, shortNames: boolean): string =>
  eventType === 'output_text.delta' && !shortNames ? 'response.output_text.delta' : eventType

/** How a stream shows its events. */
export interface FrameOptions {
  /** `output_text.delta` instead of `response.output_text.delta`. */
  readonly shortNames: boolean
  readonly reader: EventReader
}

const frame = (event: LogEvent, { shortNames, reader }: FrameOptions): string =>
  `event: ${wireName(event.event_type, shortNames)}\nid: ${event.sequence}\ndata: ${JSON.stringify(shownPayload(event, reader))}\n\n`

const build = (events: readonly LogEvent[], options: FrameOptions): string => {
  let text = ''
  for (const event of events) text += frame(event, options)
  return text
}

/**
 * Cache of the last batch's text: readers of one actor get the same events one after the other, in a batch or alone.
 */
class LastText {
  readonly #options: FrameOptions
  #first: LogEvent | undefined
  #last: LogEvent | undefined
  #text = ''

  constructor(options: FrameOptions) {
    this.#options = options
  }

  of(events: readonly LogEvent[]): string {
    const first = events[0]
    const last = events.at(-1)
    if (first === this.#first && last === this.#last) return this.#text
    this.#first = first
    this.#last = last
    this.#text = build(events, this.#options)
    return this.#text
  }
}

const textsFor = (reader: EventReader) => ({
  short: new LastText({ shortNames: true, reader }),
  long: new LastText({ shortNames: false, reader }),
})
const texts = { caller: textsFor('caller'), page: textsFor('page'), person: textsFor('person') }

/** Cache of the last WebSocket frame: sockets of one session get the same event one after the other. */
const lastFrame: FrameOptions & { event: LogEvent | null; text: string } = {
  event: null,
  shortNames: false,
  reader: 'person',
  text: '',
}

/** An event as a frame of a WebSocket. The text of an event that goes to several sockets is built once. */
export const socketFrame = (event: LogEvent, { shortNames, reader }: FrameOptions): string => {
  const isLast = lastFrame.event === event && lastFrame.shortNames === shortNames && lastFrame.reader === reader
  if (isLast) return lastFrame.text
  const { event_type, sequence } = event
  const frame = { event: wireName(event_type, shortNames), id: sequence, data: shownPayload(event, reader) }
  return Object.assign(lastFrame, { event, shortNames, reader, text: JSON.stringify(frame) }).text
}

/** SSE frames of a batch of events. The text of a batch that goes to several readers is built once. */
export const sseFrames = (events: readonly LogEvent[], { shortNames, reader }: FrameOptions): string =>
  texts[reader][shortNames ? 'short' : 'long'].of(events)
