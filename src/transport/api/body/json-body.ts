import { isUtf8 } from 'node:buffer'
import { endOfString } from '#outgoing/json-bytes.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Objects and lists may stand in each other so deep; what walks a value later needs no limit of its own. */
const maxDepth = 64

/**
 * Names, texts, objects and lists that a body may have, and eight times as many numbers: what a parser makes of them costs
 * by their count, and 8 MB of empty objects would hold every other request up for seconds.
 */
const maxValues = 100_000

/**
 * Parses a JSON body.
 *
 * @throws {ServiceError} `malformed_json`, also for text that is not UTF-8 or is nested deeper than 64; `body_too_large`
 * for one of more than 100,000 names, texts, objects and lists.
 */
export const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new ServiceError('malformed_json', { message: 'The body is not UTF-8.' })
  checkShape(bytes)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new ServiceError('malformed_json', { cause })
  }
}

/** Whether a content type says JSON; a body without one is taken as JSON. */
export const isJsonType = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === 'application/json') return true
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))
}

const quote = 0x22
const comma = 0x2c

/**
 * Counts what is outside strings; a text that is no JSON at all is left to the parser.
 *
 * @throws {ServiceError} `malformed_json`, `body_too_large`, as `parseJson` does.
 */
export const checkShape = (bytes: Buffer): void => {
  let depth = 0
  let weight = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at + 1)
      weight += 1
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      weight += 1
      if (depth > maxDepth)
        throw new ServiceError('malformed_json', { message: `The body is nested deeper than ${maxDepth}.` })
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
    else if (byte === comma) weight += 1 / 8
    if (weight > maxValues) throw new ServiceError('body_too_large', { message: tooMany })
  }
}

const tooMany = `The body has more than ${maxValues} names, texts, objects and lists, or eight times as many numbers.`
