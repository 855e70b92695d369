import { parseJson } from '../wire.ts'
import { atOnce, inShares, type Steps } from './in-shares.ts'
import { jsonSpans, pieceBytes } from './json-spans.ts'
import { parseInSteps } from './parse-in-steps.ts'

/** What is shorter costs less to parse than to look at before. */
const longBytes = 2 * pieceBytes
/** Deeper than any answer of an API. */
const maxDepth = 128
/** Names, texts, objects and lists, and eight times as many numbers: 2,048 vectors of 3,072 numbers are 800,000. */
const maxWeight = 1_000_000

/**
 * What the JSON of another server's answer says; undefined where it is none, is nested deeper than 128 or has more than a million
 * values. A long one is parsed in shares of the loop (specs/decisions/0181-the-loop-in-shares.md): its server may be anyone's.
 */
export const parsedAnswer = (bytes: Buffer): unknown =>
  bytes.length > longBytes ? inShares(parsed(bytes)) : parseJson(bytes.toString('utf8'))

/** The same at once, for what is known to be short enough. */
export const parsedAtOnce = (bytes: Buffer): unknown =>
  bytes.length > longBytes ? atOnce(parsed(bytes)) : parseJson(bytes.toString('utf8'))

function* parsed(bytes: Buffer): Steps<unknown> {
  const { long, depth, weight } = yield* jsonSpans(bytes, { maxDepth, maxWeight })
  if (depth > maxDepth || weight > maxWeight) return undefined
  try {
    return yield* parseInSteps(bytes, long)
  } catch {
    return undefined
  }
}
