import { atOnce, runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { parseJson } from '../wire.ts'
import { jsonSpans, pieceBytes } from './json-spans.ts'
import { parseInSteps } from './parse-in-steps.ts'

/** Answers shorter than this are cheaper to parse than to scan first. */
const longBytes = 2 * pieceBytes
/** Deeper than any answer of an API. */
const maxDepth = 128
/**
 * Maximum number of names, strings, objects and arrays; eight times as many numbers are allowed: 2,048 vectors of 3,072
 * numbers count 800,000.
 */
const maxWeight = 1_000_000

/**
 * Parses the JSON of another server's answer; undefined if it is invalid, is nested deeper than 128 or has more than a
 * million values. A long one is parsed over several loop turns (specs/decisions/0181-the-loop-in-shares.md), since its
 * server may be untrusted.
 */
export const parsedAnswer = (bytes: Buffer): unknown =>
  bytes.length > longBytes ? runInSlices(parsed(bytes)) : parseJson(bytes.toString('utf8'))

/** The same immediately, for answers that are known to be short enough. */
export const parsedAtOnce = (bytes: Buffer): unknown =>
  bytes.length > longBytes ? atOnce(parsed(bytes)) : parseJson(bytes.toString('utf8'))

function* parsed(bytes: Buffer): SlicedWork<unknown> {
  const { long, depth, weight } = yield* jsonSpans(bytes, { maxDepth, maxWeight })
  if (depth > maxDepth || weight > maxWeight) return undefined
  try {
    return yield* parseInSteps(bytes, long)
  } catch {
    return undefined
  }
}
