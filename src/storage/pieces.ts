import type { LogEvent } from '#machines/json.ts'
import { maxPerEvent } from '#machines/vocabulary.ts'

/** Sequence of the first event that a stored event stands for. */
export const firstSequence = ({ sequence, cuts }: LogEvent): number => sequence - (cuts?.length ?? 1) + 1

/**
 * Returns the events that a stored event stands for, as they were streamed: one for each of its `cuts`, with the next
 * part of its `payload.delta`. So an id names the same event for every reader, and a text costs little more than its
 * length in the store. Those up to `after` are left out.
 */
export const piecesOf = ({ cuts, times = [], ...event }: LogEvent, after = 0): readonly LogEvent[] => {
  const { delta } = event.payload
  if (cuts === undefined || typeof delta !== 'string') return [event]
  const pieces: LogEvent[] = []
  let part = 0
  let sequence = event.sequence - cuts.length
  let from = 0
  for (const [index, length] of cuts.entries()) {
    sequence++
    while ((times[part + 1]?.[0] ?? cuts.length) <= index) part++
    const at = times[part]?.[1]
    const to = from + length
    if (sequence > after) {
      const payload = { ...event.payload, delta: delta.slice(from, to) }
      pieces.push({ ...event, sequence, payload, ...(at !== undefined && { at }) })
    }
    from = to
  }
  return pieces
}

/** Returns events that have a time with the deltas among them as one event, as far as they only differ in text and time. */
export const joined = (events: readonly LogEvent[]): readonly LogEvent[] => {
  const list: LogEvent[] = []
  for (const event of events) {
    const before = list.at(-1)
    const both = before === undefined ? undefined : join(before, event)
    if (both === undefined) list.push(event)
    else list[list.length - 1] = both
  }
  return list
}

const join = (before: LogEvent, event: LogEvent): LogEvent | undefined => {
  const [first, second] = [before.payload.delta, event.payload.delta]
  if (typeof first !== 'string' || typeof second !== 'string' || first.length + second.length > maxPerEvent) return
  if (firstSequence(event) !== before.sequence + 1 || !isAlike(before, event)) return
  const cuts = before.cuts ?? [first.length]
  const times = [...timesOf(before), ...timesOf(event).map(([from, at]) => [cuts.length + from, at] as const)]
  return {
    ...{ ...before, sequence: event.sequence, payload: { ...before.payload, delta: first + second } },
    ...{ cuts: [...cuts, ...(event.cuts ?? [second.length])], times },
  }
}

const timesOf = ({ times, at }: LogEvent): NonNullable<LogEvent['times']> =>
  times ?? (at === undefined ? [] : [[0, at]])

const isAlike = (one: LogEvent, other: LogEvent): boolean => {
  const rest = ({
    sequence: _,
    at,
    cuts: _cuts,
    times: _times,
    payload: { delta: _delta, ...payload },
    ...event
  }: LogEvent) => JSON.stringify({ ...event, payload, timed: at !== undefined })
  return rest(one) === rest(other)
}

/**
 * `piecesOf` for a list of events; the list itself if no event stands for several. Pieces up to `after` may be left
 * out.
 */
export const inPieces = (events: readonly LogEvent[], after = 0): readonly LogEvent[] =>
  events.some(({ cuts }) => cuts !== undefined) ? events.flatMap((event) => piecesOf(event, after)) : events
