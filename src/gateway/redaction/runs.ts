/** Classes of characters by code, for texts that are read a character at a time. */
export type CharClass = (code: number) => boolean

const isAlphanumeric: CharClass = (code) =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)

/** Base64, the URL form too. */
export const isBase64: CharClass = (code) =>
  isAlphanumeric(code) || code === 0x2b || code === 0x2f || code === 0x2d || code === 0x5f

/** What tokens are made of. */
export const isToken: CharClass = (code) => isBase64(code) || code === 0x2e || code === 0x3d

/** A run of characters of one class. */
export interface Run {
  readonly start: number
  readonly end: number
}

/**
 * The first run of at least `least` characters that begins at `from` or later; null when there is none. Looks at every
 * `least`th character only while words are shorter, and at none twice.
 */
export const longRun = (
  text: string,
  isIn: CharClass,
  { least, from }: { readonly least: number; readonly from: number },
): Run | null => {
  let floor = from
  for (let at = from + least - 1; at < text.length; at = floor + least - 1) {
    let start = at
    while (start >= floor && isIn(text.charCodeAt(start))) start -= 1
    if (start < floor) return { start: floor, end: endOfRun(text, isIn, at + 1) }
    floor = start + 1
  }
  return null
}

const endOfRun = (text: string, isIn: CharClass, from: number): number => {
  let end = from
  while (end < text.length && isIn(text.charCodeAt(end))) end += 1
  return end
}
