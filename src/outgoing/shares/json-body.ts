import { isUtf8 } from 'node:buffer'
import { ServiceError } from '#specs/errors/errors.ts'
import { atOnce, runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { type JsonSpans, jsonSpans, pieceBytes, shortSpans } from './json-spans.ts'
import { parseInSteps } from './parse-in-steps.ts'
import { countFields, fieldsIn, repeatedName } from './repeated-names.ts'

/** Maximum nesting of objects and arrays, so that code that walks a value later needs no limit of its own. */
const maxDepth = 64

/**
 * Maximum number of names, strings, objects and arrays in a body; eight times as many numbers are allowed. The cost of
 * parsing grows with this count: 8 MB of empty objects would keep the processor busy for seconds.
 */
const usualMaxValues = 100_000

/** The same for a body of 1 MB: later stages (masks, journals, stores) cost more than the parser. */
export const maxValuesOfShort = 20_000

/** Bodies longer than this many bytes are handled over several loop turns. */
const longBytes = 2 * pieceBytes

/** Whether handling a body in one go would block other requests. */
export const isLongBody = (bytes: Uint8Array | undefined): boolean => bytes !== undefined && bytes.length > longBytes

/**
 * Parses a JSON body; a long one over several loop turns (specs/decisions/0181-the-loop-in-shares.md).
 *
 * @throws {ServiceError} `malformed_json`, also for text that is not UTF-8, is nested deeper than 64, or repeats a name
 * in one object; `body_too_large` for more names, strings, objects and arrays than `maxValues`. For a long body the
 * promise is rejected with it.
 */
export const parseJson = (bytes: Buffer, maxValues = usualMaxValues): unknown =>
  bytes.length <= pieceBytes
    ? parsedShort(bytes, maxValues)
    : isLongBody(bytes)
      ? runInSlices(parsed(bytes, maxValues))
      : atOnce(parsed(bytes, maxValues))

/** Whether a content type is JSON; an absent one counts as JSON. */
export const isJsonType = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === 'application/json') return true
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))
}

/**
 * Checks the nesting and the number of values of JSON that another parser will read.
 *
 * @throws {ServiceError} `malformed_json` for JSON that is nested too deeply, `body_too_large` for too many values.
 */
export const checkShape = (bytes: Buffer, maxWeight: number): void => void atOnce(spansOf(bytes, maxWeight))

function* spansOf(bytes: Buffer, maxWeight: number): SlicedWork<JsonSpans> {
  return checked(yield* jsonSpans(bytes, { maxDepth, maxWeight }), maxWeight)
}

const checked = (spans: JsonSpans, maxWeight: number): JsonSpans => {
  if (spans.depth > maxDepth) throw malformed(`The body is nested deeper than ${maxDepth}.`)
  if (spans.weight > maxWeight) throw new ServiceError('body_too_large', { message: tooMany(maxWeight) })
  return spans
}

/** `parsed` without steps, which would cost as much as the parser does for most bodies. */
const parsedShort = (bytes: Buffer, maxValues: number): unknown => {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  const { names } = checked(shortSpans(bytes, { maxDepth, maxWeight: maxValues }), maxValues)
  const value = parsedText(bytes)
  if (fieldsIn(value) < names) atOnce(refuseRepeated(bytes))
  return value
}

const parsedText = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new ServiceError('malformed_json', { cause })
  }
}

function* parsed(bytes: Buffer, maxValues: number): SlicedWork<unknown> {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  const { long, names } = yield* spansOf(bytes, maxValues)
  const value = yield* parsedValue(bytes, long)
  if ((yield* countFields(value)) < names) yield* refuseRepeated(bytes)
  return value
}

function* parsedValue(bytes: Buffer, long: ReadonlyMap<number, number>): SlicedWork<unknown> {
  try {
    return yield* parseInSteps(bytes, long)
  } catch (cause) {
    throw new ServiceError('malformed_json', { cause })
  }
}

/**
 * Refuses repeated names: the provider gets the original bytes and could read another value than the one checked here.
 */
function* refuseRepeated(bytes: Buffer): SlicedWork<never> {
  const param = (yield* repeatedName(bytes)) ?? ''
  throw new ServiceError('malformed_json', { param, message: `The body contains ${param} twice.` })
}

const malformed = (message: string): ServiceError => new ServiceError('malformed_json', { message })

const tooMany = (max: number): string =>
  `The body has more than ${max} names, strings, objects and arrays, or eight times as many numbers.`
