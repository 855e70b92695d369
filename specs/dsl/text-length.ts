/**
 * Whether a text has at most `most` characters, counted as in JSON Schema: a surrogate pair is one. A text that is far
 * from the limit is not read, however long it is.
 */
export const isAtMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && charactersOf(text) <= most)

/** Whether a text has at least `least` characters, counted in the same way. */
export const isAtLeast = (text: string, least: number): boolean =>
  text.length >= 2 * least || (text.length >= least && charactersOf(text) >= least)

const charactersOf = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}
