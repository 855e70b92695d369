import { endWithin } from '../json-bytes.ts'
import type { Steps } from './in-shares.ts'

/** What is handled in one step, in bytes. */
export const pieceBytes = 32 * 1024

/** What a text of JSON consists of, as far as its bytes show it: it may be no JSON at all. */
export interface JsonSpans {
  /** Where each object, list or text of more than 32 KB ends, by where it begins. */
  readonly long: ReadonlyMap<number, number>
  /** Names of objects. */
  readonly names: number
  readonly depth: number
  /** Names, texts, objects and lists; a comma is an eighth of one, for the number before it. */
  readonly weight: number
}

/** Where to stop: what is beyond is not read. */
export interface SpanLimits {
  readonly maxDepth: number
  readonly maxWeight: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a

/** Counts what is outside of texts, until it is over a limit. */
export function* jsonSpans(bytes: Buffer, { maxDepth, maxWeight }: SpanLimits): Steps<JsonSpans> {
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
