import type { LogEvent } from '#machines/json.ts'

/** Sequence of the first event that a stored event stands for. */
export const firstSequence = ({ sequence, cuts }: LogEvent): number => sequence - (cuts?.length ?? 1) + 1

/**
 * Returns the events that a stored event stands for, as they were streamed: one for each of its `cuts`, with the next
 * part of its `payload.delta`. So an id names the same event for every reader, and a text costs little more than its
 * length in the store.
 */
export const piecesOf = ({ cuts, ...event }: LogEvent): readonly LogEvent[] => {
  const { delta } = event.payload
  if (cuts === undefined || typeof delta !== 'string') return [event]
  let from = 0
  return cuts.map((length, index) => {
    const sequence = event.sequence - cuts.length + 1 + index
    const piece = delta.slice(from, from + length)
    from += length
    return { ...event, sequence, payload: { ...event.payload, delta: piece } }
  })
}

/** `piecesOf` for a list of events; the list itself if no event stands for several. */
export const inPieces = (events: readonly LogEvent[]): readonly LogEvent[] =>
  events.some(({ cuts }) => cuts !== undefined) ? events.flatMap(piecesOf) : events
