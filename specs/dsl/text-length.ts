/**
 * Whether a text has at most `max` characters, counted as in JSON Schema: a surrogate pair is one. A text that is far
 * from the limit is not read, however long it is.
 */
export const isAtMost = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && charactersOf(text) <= max)

/** Whether a text has at least `min` characters, counted in the same way. */
export const isAtLeast = (text: string, min: number): boolean =>
  text.length >= 2 * min || (text.length >= min && charactersOf(text) >= min)

const charactersOf = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}
