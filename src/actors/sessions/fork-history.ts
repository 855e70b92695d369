import type { CopiedEvent, ForkedFrom } from '#machines/session/session-data.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import { lengthOf } from '../runtime/internal.ts'
import { Conversation } from './conversation.ts'
import type { ReadLog } from './conversations.ts'

/**
 * Most text of copied events, in UTF-16 units of JSON without blobs: all are written in one commit (specs/bounds.ts).
 */
export const maxForkLength = 192 * 1024

/** Longest length counted for a field: a longer value is moved from the commit to a blob. */
const fieldLength = 300
const eventLength = 128

/** The events of one turn, and their estimated length. */
interface CopiedTurn {
  readonly events: LogEvent[]
  cost: number
}

/**
 * Returns the events that a fork starts with: `session.forked`, then those of the turns up to `from.turn_number`, with
 * the deltas of a text joined. Earlier turns that do not fit are folded into a conversation, as the model reads them
 * (specs/decisions/0001-sessions.md).
 *
 * @throws {ServiceError} `not_found` when the log ends before the turn does, because it was deleted meanwhile;
 * {StoreUnavailable}
 */
export const forkHistory = async (readLog: ReadLog, from: ForkedFrom): Promise<readonly CopiedEvent[]> => {
  const { session_id, turn_number } = from
  const history = new ForkHistory()
  let isWhole = false
  for (let after = 0, more = true; more; ) {
    const events = await readLog(session_id, after)
    more = events.length > 0
    for (const event of events) {
      after = event.sequence
      if ((event.turn_number ?? 0) > turn_number) more = false
      if (!more) break
      history.take(event)
      isWhole ||= event.turn_number === turn_number && isEnd(event)
    }
  }
  if (!isWhole) throw new ServiceError('not_found', { param: 'session_id' })
  return history.copied(from)
}

/** The newest turns of a log that fit, and a conversation of the turns before them. */
class ForkHistory {
  readonly #earlier = new Conversation()
  readonly #turns: CopiedTurn[] = []
  #first = 1
  #cost = 0

  take(event: LogEvent): void {
    // events without a turn precede the first copied turn of a session that is itself a fork
    if (event.turn_number === undefined) this.#begin(event)
    else this.#copy(event, event.turn_number)
  }

  copied({ session_id, turn_number }: ForkedFrom): readonly CopiedEvent[] {
    const { messages, open } = this.#earlier.state
    const isEmpty = messages.length === 0 && open.text === '' && open.calls.length === 0
    const hidden = isEmpty ? {} : { hidden: { conversation: JSON.stringify(this.#earlier.state) } }
    const payload = { session_id, turn_number, first_turn: this.#first }
    const events = this.#turns.flatMap((turn) =>
      turn.events.map(({ sequence: _, follows: _follows, ...event }) => event),
    )
    return [{ event_type: 'session.forked', payload, ...hidden }, ...events]
  }

  #begin(event: LogEvent): void {
    this.#earlier.apply([event])
    if (typeof event.payload.first_turn === 'number') this.#first = event.payload.first_turn
  }

  #copy(event: LogEvent, turn: number): void {
    const last = this.#turns.at(-1)
    const current = last !== undefined && last.events[0]?.turn_number === turn ? last : { events: [], cost: 0 }
    if (current !== last) this.#turns.push(current)
    const before = current.events.at(-1)
    if (before?.event_type === event.event_type && isDelta(event)) {
      current.events[current.events.length - 1] = joined(before, event)
    } else {
      current.events.push(event)
      const cost = costOf(event)
      current.cost += cost
      this.#cost += cost
    }
    while (this.#cost > maxForkLength) this.#fold()
  }

  /** Folds the earliest turn into the conversation. */
  #fold(): void {
    const turn = this.#turns.shift()
    if (turn === undefined) return
    this.#earlier.apply(turn.events)
    this.#cost -= turn.cost
    this.#first = (turn.events[0]?.turn_number ?? 0) + 1
  }
}

const isEnd = ({ event_type }: LogEvent): boolean => event_type === 'turn.completed' || event_type === 'turn.failed'

const isDelta = ({ event_type }: LogEvent): boolean =>
  event_type === 'output_text.delta' || event_type === 'reasoning.delta'

const joined = (before: LogEvent, after: LogEvent): LogEvent => ({
  ...after,
  payload: { ...after.payload, delta: `${before.payload.delta}${after.payload.delta}` },
})

const costOf = ({ payload, hidden }: LogEvent): number => eventLength + lengthIn(payload) + lengthIn(hidden)

const lengthIn = (fields: JsonObject | undefined): number => {
  let length = 0
  for (const key in fields) length += key.length + 8 + Math.min(lengthOf(fields[key]), fieldLength)
  return length
}
