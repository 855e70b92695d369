import type { LogEvent } from '#machines/json.ts'

/** Sequence of the first event that a stored event stands for. */
export const firstSequence = ({ sequence, cuts }: LogEvent): number => sequence - (cuts?.length ?? 1) + 1

/**
 * Returns the events that a stored event stands for, as they were streamed: one for each of its `cuts`, with the next
 * part of its `payload.delta`. So an id names the same event for every reader, and a text costs little more than its
 * length in the store. Those up to `after` are left out.
 */
export const piecesOf = ({ cuts, ...event }: LogEvent, after = 0): readonly LogEvent[] => {
  const { delta } = event.payload
  if (cuts === undefined || typeof delta !== 'string') return [event]
  const pieces: LogEvent[] = []
  let sequence = event.sequence - cuts.length
  let from = 0
  for (const length of cuts) {
    sequence++
    const to = from + length
    if (sequence > after)
      pieces.push({ ...event, sequence, payload: { ...event.payload, delta: delta.slice(from, to) } })
    from = to
  }
  return pieces
}

/**
 * `piecesOf` for a list of events; the list itself if no event stands for several. Pieces up to `after` may be left
 * out.
 */
export const inPieces = (events: readonly LogEvent[], after = 0): readonly LogEvent[] =>
  events.some(({ cuts }) => cuts !== undefined) ? events.flatMap((event) => piecesOf(event, after)) : events
