import { STATUS_CODES } from 'node:http'
import type { Headers } from './http-port.ts'

/** Characters that RFC 9110 forbids in a field value; one could start another header, or a body. */
const forbidden = /[^\t\x20-\x7e\x80-\xff]/

/** Checks header values. @throws {TypeError} when one holds a control character or one beyond Latin-1. */
export const checkHeaders = (headers: Headers): void => {
  for (const [name, value] of headers) {
    if (forbidden.test(value)) throw new TypeError(`header ${name} has a character that is not allowed`)
  }
}

/** Headers of answers that do not set them: one per header, and all in the place of one, which costs less to write. */
interface DefaultHeaders {
  readonly each: Headers
  readonly joined: Headers
}

const nosniff = ['x-content-type-options', 'nosniff'] as const
const uncached = ['cache-control', 'no-store'] as const

const none: DefaultHeaders = { each: [], joined: [] }
const onlyNosniff: DefaultHeaders = { each: [nosniff], joined: [nosniff] }
const onlyUncached: DefaultHeaders = { each: [uncached], joined: [uncached] }
const both: DefaultHeaders = {
  each: [nosniff, uncached],
  joined: [[nosniff[0], `${nosniff[1]}\r\n${uncached[0]}: ${uncached[1]}`]],
}

/**
 * Returns the headers that an answer lacks: no browser may guess its type, and no cache may keep it unless it says so
 * itself, since most answers hold data of a caller (specs/decisions/0050-transport.md).
 */
export const defaultHeaders = (headers: Headers): DefaultHeaders => {
  let hasType = false
  let hasCache = false
  for (const [name] of headers) {
    if (name === nosniff[0]) hasType = true
    else if (name === uncached[0]) hasCache = true
  }
  if (hasCache) return hasType ? none : onlyNosniff
  return hasType ? onlyUncached : both
}

const lines = new Map<number, string>()

/** Code and reason phrase, e.g. `404 Not Found`. */
export const statusLine = (status: number): string => {
  const known = lines.get(status)
  if (known !== undefined) return known
  const line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
  lines.set(status, line)
  return line
}

/** Whether an answer of this status has no body and no content-length by definition. */
export const isBodiless = (status: number): boolean => status === 204 || status === 304 || status < 200
