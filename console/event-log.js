/**
 * @typedef {{ sequence: number, event_type: string, turn_number: number | null, payload: Record<string, unknown>, created_at: string }} ActorEvent
 * @typedef {{ height?: number, isWhole?: boolean }} OnPage its measured height in px, and whether its payload is expanded
 * @typedef {OnPage & { kind: 'event', event: ActorEvent }} EventEntry
 * @typedef {OnPage & { kind: 'text', events: ActorEvent[], text: string }} TextEntry consecutive deltas, joined
 * @typedef {EventEntry | TextEntry} Entry
 */

/** Last event of a stream that the server ends: its reason says whether reconnecting makes sense. It is not in the log. */
export const endedEvent = 'stream.ended'

/** Name of the text event in the log; the server's streams use a longer one. */
const textEvent = 'output_text.delta'

/** @param {string} wireName */
export const logName = (wireName) => (wireName === `response.${textEvent}` ? textEvent : wireName)

/** Events before which the log may have a gap: a crash cut an answer, and what it had shown is in no log. */
const afterGap = ['turn.restarted', 'turn.failed']

/** The loaded part of one actor's log: in order, without gaps but those, each event once. */
export class EventLog {
  /** @type {Entry[]} */
  entries = []
  #last = 0
  #turn = /** @type {number | null} */ (null)

  /** @param {number} after sequence before the first event that will be added */
  constructor(after) {
    this.#last = after
  }

  /** Sequence of the newest event. */
  get last() {
    return this.#last
  }

  /** Sequence before the oldest loaded event. */
  get before() {
    const [oldest] = this.entries
    return oldest === undefined ? this.#last : firstOf(oldest) - 1
  }

  /**
   * Adds the next event; ignores events that are already loaded.
   *
   * @param {ActorEvent} event
   * @returns {'new' | 'grown' | 'known' | 'hole'} a new entry; more text in the last entry; nothing changed; or
   *   nothing changed because events before this one are missing
   */
  add(event) {
    if (event.sequence <= this.#last) return 'known'
    if (event.sequence > this.#last + 1 && !afterGap.includes(event.event_type)) return 'hole'
    this.#last = event.sequence
    const whole = { ...event, turn_number: this.#turnOf(event) }
    const newest = this.entries.at(-1)
    if (newest !== undefined && joins(newest, whole)) {
      newest.events.push(whole)
      newest.text += deltaOf(whole)
      return 'grown'
    }
    this.entries.push(entryOf(whole))
    return 'new'
  }

  /** Adds older events, which must end where the loaded ones start. @param {readonly ActorEvent[]} events @returns {readonly Entry[]} their entries */
  addBefore(events) {
    const older = joined(events.filter(({ sequence }) => sequence <= this.before))
    this.entries.unshift(...older)
    return older
  }

  /** Removes the oldest entries. @param {number} max number of entries to keep @returns {number} number of removed entries */
  trim(max) {
    return this.entries.splice(0, Math.max(0, this.entries.length - max)).length
  }

  /** The turn of an event. A stream frame without a turn number belongs to the current turn. @param {ActorEvent} event */
  #turnOf({ turn_number, payload }) {
    const named = turn_number ?? payload.turn_number
    if (typeof named === 'number') this.#turn = named
    return this.#turn
  }
}

/** Entries of consecutive events; consecutive text deltas form one entry. @param {readonly ActorEvent[]} events @returns {Entry[]} */
export const joined = (events) => {
  const log = new EventLog((events[0]?.sequence ?? 1) - 1)
  for (const event of events) log.add(event)
  return log.entries
}

/** @param {Entry} entry */
export const firstOf = (entry) => (entry.kind === 'text' ? (entry.events[0]?.sequence ?? 0) : entry.event.sequence)

/** @param {Entry} entry */
export const lastOf = (entry) => (entry.kind === 'text' ? (entry.events.at(-1)?.sequence ?? 0) : entry.event.sequence)

/** @param {ActorEvent} event @returns {Entry} */
const entryOf = (event) =>
  event.event_type === textEvent ? { kind: 'text', events: [event], text: deltaOf(event) } : { kind: 'event', event }

/** @param {Entry} entry @param {ActorEvent} event @returns {entry is TextEntry} */
const joins = (entry, event) =>
  entry.kind === 'text' && event.event_type === textEvent && entry.events[0]?.turn_number === event.turn_number

/** @param {ActorEvent} event */
const deltaOf = ({ payload }) => (typeof payload.delta === 'string' ? payload.delta : '')
