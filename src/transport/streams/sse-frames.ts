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

/** The last events that were written out; readers of one actor get the same batch one after the other. */
class LastText {
  readonly #shortNames: boolean
  #events: readonly LogEvent[] = []
  #last: LogEvent | undefined
  #text = ''

  constructor(shortNames: boolean) {
    this.#shortNames = shortNames
  }

  of(events: readonly LogEvent[]): string {
    const last = events[events.length - 1]
    if (events === this.#events && last === this.#last) return this.#text
    this.#events = events
    this.#last = last
    this.#text = build(events, this.#shortNames)
    return this.#text
  }
}

const short = new LastText(true)
const long = new LastText(false)

/** SSE frames of a batch of events. The text of a batch that goes to several readers is built once. */
export const sseFrames = (events: readonly LogEvent[], shortNames: boolean): string =>
  (shortNames ? short : long).of(events)
