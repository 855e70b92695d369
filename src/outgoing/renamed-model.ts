import { atOnce, runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { endOfString, endWithin } from './json-bytes.ts'
import { pieceBytes } from './shares/json-spans.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const field = Buffer.from('model')

/**
 * Replaces the model name in the body of a request. The bytes around the name are copied: serialising 7 MB again would
 * block the event loop for 50 ms or more.
 *
 * @param body JSON of an object, already parsed without error.
 * @returns null if the body does not contain the name exactly once and without escapes, so that it has to be serialised
 * again. A long body is scanned over several loop turns.
 */
export const renamedModel = (body: Uint8Array, model: string): Uint8Array | null | Promise<Uint8Array | null> => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const steps = renamed(bytes, model)
  return bytes.length > 2 * pieceBytes ? runInSlices(steps) : atOnce(steps)
}

function* renamed(bytes: Buffer, model: string): SlicedWork<Uint8Array | null> {
  const place = yield* placeOfModel(bytes)
  if (place === null) return null
  return Buffer.concat([bytes.subarray(0, place.start), Buffer.from(JSON.stringify(model)), bytes.subarray(place.end)])
}

interface Place {
  readonly start: number
  readonly end: number
}

/** Position of the value of the top-level `model`, including its quotes. */
function* placeOfModel(bytes: Buffer): SlicedWork<Place | null> {
  let found: Place | null = null
  let depth = 0
  let isName = true
  let stop = pieceBytes
  for (let at = 0; at < bytes.length; at += 1) {
    if (at > stop) {
      yield
      stop = at + pieceBytes
    }
    const byte = bytes[at]
    if (byte === quote) {
      let end = endWithin(bytes, at + 1, stop)
      for (; end < 0; end = endWithin(bytes, ~end, stop)) {
        yield
        stop = ~end + pieceBytes
      }
      if (depth === 1 && isName) {
        const name = bytes.subarray(at + 1, end)
        // a name with an escape may be `model` in another spelling
        if (name.includes(backslash)) return null
        if (name.equals(field)) {
          if (found !== null) return null
          found = textAfter(bytes, end + 1)
          if (found === null) return null
        }
      }
      at = end
    } else if (isOpening(byte)) depth += 1
    else if (isClosing(byte)) depth -= 1
    else if (depth === 1 && (byte === comma || byte === colon)) isName = byte === comma
  }
  return found
}

/** Position of the string value after a name; null when the value is not a string. */
const textAfter = (bytes: Buffer, from: number): Place | null => {
  let start = from
  while (isBlank(bytes[start]) || bytes[start] === colon) start += 1
  return bytes[start] === quote ? { start, end: endOfString(bytes, start + 1) + 1 } : null
}
