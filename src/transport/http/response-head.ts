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
