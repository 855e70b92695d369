import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { endOfString, endWithin } from '../json-bytes.ts'

/** Bytes handled in one step. */
export const pieceBytes = 32 * 1024

/** Structure of a JSON text, from its bytes alone: the text may be invalid JSON. */
export interface JsonSpans {
  /** End position of each object, array or string of more than 32 KB, by its start position. */
  readonly long: ReadonlyMap<number, number>
  /** Number of names in objects. */
  readonly names: number
  readonly depth: number
  /** Number of names, strings, objects and arrays; a comma counts as an eighth, for the number before it. */
  readonly weight: number
}

/** Limits at which scanning stops. */
export interface SpanLimits {
  readonly maxDepth: number
  readonly maxWeight: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a

const noLong: JsonSpans['long'] = new Map()

/** `jsonSpans` of a text of at most 32 KB, which has no long values, without steps: each request is scanned. */
export const shortSpans = (bytes: Buffer, { maxDepth, maxWeight }: SpanLimits): JsonSpans => {
  let names = 0
  let depth = 0
  let weight = 0
  for (let at = 0; at < bytes.length && depth <= maxDepth && weight <= maxWeight; at += 1) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at + 1)
      weight += 1
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      weight += 1
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
    else if (byte === comma) weight += 1 / 8
    else if (byte === colon) names += 1
  }
  return { long: noLong, names, depth, weight }
}

/** Scans the structure outside strings until a limit is exceeded. */
export function* jsonSpans(bytes: Buffer, { maxDepth, maxWeight }: SpanLimits): SlicedWork<JsonSpans> {
  const long = new Map<number, number>()
  const opened: number[] = []
  let names = 0
  let depth = 0
  let weight = 0
  let stop = pieceBytes
  for (let at = 0; at < bytes.length && depth <= maxDepth && weight <= maxWeight; at += 1) {
    if (at > stop) {
      yield
      stop = at + pieceBytes
    }
    const byte = bytes[at]
    if (byte === quote) {
      const start = at
      for (at = endWithin(bytes, start + 1, stop); at < 0; at = endWithin(bytes, ~at, stop)) {
        yield
        stop = ~at + pieceBytes
      }
      weight += 1
      if (at - start >= pieceBytes) long.set(start, at + 1)
    } else if (byte === 0x7b || byte === 0x5b) {
      opened[depth] = at
      depth += 1
      weight += 1
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1
      const start = opened[depth] ?? at
      if (at - start >= pieceBytes) long.set(start, at + 1)
    } else if (byte === comma) weight += 1 / 8
    else if (byte === colon) names += 1
  }
  return { long, names, depth, weight }
}
