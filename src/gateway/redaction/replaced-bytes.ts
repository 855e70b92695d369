import type { Replacement } from '../call/redaction.ts'

/** Each value is looked for by itself: so many at most. */
const maxValues = 32

/** Characters that JSON may write otherwise than as themselves, and the one that stands for bytes that are no text. */
const writtenOtherwise = /["\\\p{Cc}\ufffd]/u

/**
 * A request's body with placeholders in place of values, all else as it came: to write ten kilobytes anew takes twice what it took
 * to find what is personal in them.
 *
 * A value that stands plainly in the body as often as it was replaced stands nowhere else. Escapes by which a letter may be
 * written differently are not looked into.
 *
 * @param body JSON, parsed before, no name twice in an object of it.
 * @returns null where the body has to be written anew.
 */
export const replacedBytes = (body: Uint8Array, replacements: readonly Replacement[]): Uint8Array | null => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (replacements.length > maxValues || hasEscapedLetters(bytes)) return null
  const found: Found[] = []
  for (const replacement of replacements) if (!find(bytes, replacement, found)) return null
  return written(bytes, found)
}

const backslash = 0x5c

/** Whether a letter or a slash may be written as an escape. */
const hasEscapedLetters = (bytes: Buffer): boolean => {
  const first = bytes.indexOf(backslash)
  return first >= 0 && (bytes.includes('\\u', first) || bytes.includes('\\/', first))
}

interface Found {
  readonly start: number
  readonly end: number
  readonly placeholder: string
}

/** @returns whether the value stands as often as it was replaced. */
const find = (bytes: Buffer, { value, placeholder, times }: Replacement, into: Found[]): boolean => {
  if (value === '' || writtenOtherwise.test(value)) return false
  const length = Buffer.byteLength(value)
  let left = times
  for (let at = bytes.indexOf(value); at >= 0; at = bytes.indexOf(value, at + 1)) {
    left -= 1
    if (left < 0) return false
    into.push({ start: at, end: at + length, placeholder })
  }
  return left === 0
}

/** @returns null where two of them overlap. */
const written = (bytes: Buffer, found: Found[]): Uint8Array | null => {
  if (found.length > 1) found.sort((one, other) => one.start - other.start)
  let { length } = bytes
  for (const { start, end, placeholder } of found) length += placeholder.length - (end - start)
  const whole = Buffer.allocUnsafe(length)
  let from = 0
  let at = 0
  for (const { start, end, placeholder } of found) {
    if (start < from) return null
    at += bytes.copy(whole, at, from, start)
    // a placeholder is ASCII
    at += whole.write(placeholder, at, 'latin1')
    from = end
  }
  bytes.copy(whole, at, from)
  return whole
}
