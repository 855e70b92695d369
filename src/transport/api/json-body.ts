import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../../../specs/errors.ts'

/** Objects and lists may stand in each other so deep; what walks a value later needs no limit of its own. */
const maxDepth = 64

/**
 * Parses a JSON body.
 *
 * @throws {ServiceError} `malformed_json`, also for text that is not UTF-8 or is nested deeper than 64.
 */
export const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new ServiceError('malformed_json', { message: 'The body is not UTF-8.' })
  if (isTooDeep(bytes))
    throw new ServiceError('malformed_json', { message: `The body is nested deeper than ${maxDepth}.` })
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new ServiceError('malformed_json')
  }
}

/** Whether a content type says JSON; a body without one is taken as JSON. */
export const isJsonType = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === 'application/json') return true
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))
}

const quote = 0x22
const backslash = 0x5c

/** Counts brackets outside strings; a text that is no JSON at all is left to the parser. */
const isTooDeep = (bytes: Buffer): boolean => {
  let depth = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === backslash) at += 1
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return false
}
