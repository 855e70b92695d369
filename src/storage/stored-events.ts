import type { JsonObject, LogEvent } from '#machines/json.ts'

/** An event as its JSON is stored. */
interface StoredForm extends Omit<LogEvent, 'cuts'> {
  readonly cuts?: string | readonly number[]
  /** `output` of the payload, or its `text`, is the `delta`s of this many events before this one in its commit. */
  readonly deltas?: number
}

/** Shorter texts are stored as they are, in UTF-16 units. */
const minLength = 32

/**
 * Returns the events of one commit as they are stored: the event that ends a turn repeats the text of its answer, which
 * is left out if the deltas before it have it, and the lengths of pieces are one character each.
 */
export const toStored = (events: readonly LogEvent[]): readonly StoredForm[] =>
  events.map((event, index): StoredForm => {
    if (event.cuts !== undefined) return { ...event, cuts: packed(event.cuts) }
    const text = textOf(event.payload)
    const deltas = text === undefined || text.length < minLength ? 0 : deltasBefore(events, index, text)
    return deltas === 0 ? event : { ...event, payload: withOutput(event.payload, ''), deltas }
  })

/** Returns the stored events of one commit as they were written. */
export const fromStored = (stored: readonly StoredForm[]): readonly LogEvent[] =>
  stored.map(({ deltas, cuts, ...event }, index): LogEvent => {
    if (cuts !== undefined) return { ...event, cuts: unpacked(cuts) }
    if (deltas === undefined) return event
    const text = stored.slice(index - deltas, index).map(({ payload }) => payload.delta)
    return { ...event, payload: withOutput(event.payload, text.join('')) }
  })

/** A length is the character that is so far behind `0`; only printable ones are used. */
const zero = 48
const longest = 126 - zero

const packed = (cuts: readonly number[]): string | readonly number[] =>
  cuts.every((length) => length <= longest) ? cuts.map((length) => String.fromCharCode(zero + length)).join('') : cuts

const unpacked = (cuts: string | readonly number[]): readonly number[] =>
  typeof cuts === 'string' ? Array.from(cuts, (character) => character.charCodeAt(0) - zero) : cuts

/** Number of events directly before this one whose `delta`s make the text; 0 if they do not. */
const deltasBefore = (events: readonly LogEvent[], index: number, text: string): number => {
  let left = text.length
  for (let at = index - 1; at >= 0; at--) {
    const delta = events[at]?.payload.delta
    if (typeof delta !== 'string' || !text.endsWith(delta, left)) return 0
    left -= delta.length
    if (left === 0) return index - at
  }
  return 0
}

const textOf = ({ output }: JsonObject): string | undefined => {
  if (typeof output === 'string') return output
  const text = isObject(output) ? output.text : undefined
  return typeof text === 'string' ? text : undefined
}

const withOutput = (payload: JsonObject, text: string): JsonObject => {
  const { output } = payload
  return { ...payload, output: isObject(output) ? { ...output, text } : text }
}

const isObject = (value: JsonObject[string]): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
