/** A class of ASCII characters: 1 at the code of each. Nothing else is in it. */
export type CharClass = Uint8Array

const classOf = (characters: string): CharClass => {
  const codes = new Uint8Array(128)
  for (let at = 0; at < characters.length; at += 1) codes[characters.charCodeAt(at)] = 1
  return codes
}

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Base64, the URL form too. */
export const isBase64 = classOf(`${alphanumeric}+/-_`)

/** What tokens are made of. */
export const isToken = classOf(`${alphanumeric}+/-_.=`)

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
