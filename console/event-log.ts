export interface ActorEvent {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number: number | null
  readonly payload: Record<string, unknown>
  readonly created_at: string
}

/** its measured height in px, and whether its payload is expanded */
type OnPage = { height?: number; isWhole?: boolean }

export type EventEntry = OnPage & { readonly kind: 'event'; readonly event: ActorEvent }

/** consecutive deltas, joined */
export type TextEntry = OnPage & { readonly kind: 'text'; readonly events: ActorEvent[]; text: string }

export type Entry = EventEntry | TextEntry

/** Last event of a stream that the server ends: its reason says whether reconnecting makes sense. It is not in the log. */
export const endedEvent = 'stream.ended'

/** Name of the text event in the log; the server's streams use a longer one. */
const textEvent = 'output_text.delta'

export const logName = (wireName: string) => (wireName === `response.${textEvent}` ? textEvent : wireName)

/** Events before which the log may have a gap: a crash cut an answer, and what it had shown is in no log. */
const afterGap = ['turn.restarted', 'turn.failed']

/** The loaded part of one actor's log: in order, without gaps but those, each event once. */
export class EventLog {
  entries: Entry[] = []
  #last = 0
  #turn: number | null = null

  /** @param after sequence before the first event that will be added */
  constructor(after: number) {
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
   * @returns a new entry; more text in the last entry; nothing changed; or nothing changed because events before this
   * one are missing
   */
  add(event: ActorEvent): 'new' | 'grown' | 'known' | 'hole' {
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

  /** Adds older events, which must end where the loaded ones start. @returns their entries */
  addBefore(events: readonly ActorEvent[]): readonly Entry[] {
    const older = joined(events.filter(({ sequence }) => sequence <= this.before))
    this.entries.unshift(...older)
    return older
  }

  /** Removes the oldest entries. @param max number of entries to keep @returns number of removed entries */
  trim(max: number): number {
    return this.entries.splice(0, Math.max(0, this.entries.length - max)).length
  }

  /** The turn of an event. A stream frame without a turn number belongs to the current turn. */
  #turnOf({ turn_number, payload }: ActorEvent) {
    const named = turn_number ?? payload.turn_number
    if (typeof named === 'number') this.#turn = named
    return this.#turn
  }
}

/** Entries of consecutive events; consecutive text deltas form one entry. */
export const joined = (events: readonly ActorEvent[]): Entry[] => {
  const log = new EventLog((events[0]?.sequence ?? 1) - 1)
  for (const event of events) log.add(event)
  return log.entries
}

export const firstOf = (entry: Entry) =>
  entry.kind === 'text' ? (entry.events[0]?.sequence ?? 0) : entry.event.sequence

export const lastOf = (entry: Entry) =>
  entry.kind === 'text' ? (entry.events.at(-1)?.sequence ?? 0) : entry.event.sequence

const entryOf = (event: ActorEvent): Entry =>
  event.event_type === textEvent ? { kind: 'text', events: [event], text: deltaOf(event) } : { kind: 'event', event }

const joins = (entry: Entry, event: ActorEvent): entry is TextEntry =>
  entry.kind === 'text' && event.event_type === textEvent && entry.events[0]?.turn_number === event.turn_number

const deltaOf = ({ payload }: ActorEvent) => (typeof payload.delta === 'string' ? payload.delta : '')
