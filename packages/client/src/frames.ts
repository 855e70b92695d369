import type { SessionEvent } from './events.ts'
import { asEvent } from './schema.ts'

/** Reads server-sent events from pieces of text that may be cut anywhere; only whole frames count. */
export class Frames {
  #rest = ''

  /** Returns the events of the frames that this piece completes. */
  push(piece: string): SessionEvent[] {
    const text = this.#rest === '' ? piece : this.#rest + piece
    const events: SessionEvent[] = []
    let start = 0
    // of a long frame that comes in many pieces, only the new end is searched
    let end = text.indexOf('\n\n', Math.max(0, this.#rest.length - 1))
    while (end >= 0) {
      const event = parsed(text.slice(start, end))
      if (event !== null) events.push(event)
      start = end + 2
      end = text.indexOf('\n\n', start)
    }
    this.#rest = start === 0 ? text : text.slice(start)
    return events
  }
}

/** One frame; null for a comment. */
const parsed = (frame: string): SessionEvent | null => {
  let [event, id, data] = ['', 0, '']
  for (let start = 0; start < frame.length; ) {
    let end = frame.indexOf('\n', start)
    if (end < 0) end = frame.length
    if (frame.startsWith('data: ', start)) data += frame.slice(start + 6, end)
    else if (frame.startsWith('event: ', start)) event = frame.slice(start + 7, end)
    else if (frame.startsWith('id: ', start)) id = Number(frame.slice(start + 4, end))
    start = end + 1
  }
  return data === '' ? null : asEvent(event, id, JSON.parse(data))
}
