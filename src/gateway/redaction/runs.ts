/** A class of ASCII characters: an array with 1 at each member's code. Other characters are never members. */
export type CharClass = Uint8Array

const classOf = (characters: string): CharClass => {
  const codes = new Uint8Array(128)
  for (let at = 0; at < characters.length; at += 1) codes[characters.charCodeAt(at)] = 1
  return codes
}

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Characters of base64 and base64url. */
export const isBase64 = classOf(`${alphanumeric}+/-_`)

/** Characters of API keys and tokens. */
export const isToken = classOf(`${alphanumeric}+/-_.=~`)

/** A run of characters of one class. */
export interface Run {
  readonly start: number
  readonly end: number
}

/**
 * Returns the first run of at least `min` characters that begins at `from` or later; null when there is none. While
 * runs are shorter, it inspects only about every `min`th character, and no character twice.
 */
export const longRun = (
  text: string,
  isIn: CharClass,
  { min, from }: { readonly min: number; readonly from: number },
): Run | null => {
  let floor = from
  for (let at = from + min - 1; at < text.length; at = floor + min - 1) {
    let start = at
    while (start >= floor && isIn[text.charCodeAt(start)] === 1) start -= 1
    if (start < floor) return { start: floor, end: endOfRun(text, isIn, at + 1) }
    floor = start + 1
  }
  return null
}

const endOfRun = (text: string, isIn: CharClass, from: number): number => {
  let end = from
  while (end < text.length && isIn[text.charCodeAt(end)] === 1) end += 1
  return end
}
