/** Lower-cases ASCII letters and replaces word separators of names by spaces. The length does not change. */
const folded = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).replace(/[_\s-]/g, ' ')

let last = { text: '', folded: '' }

/** The same, once for all names that are searched in one text. */
const foldedOnce = (text: string): string => {
  if (last.text !== text) last = { text, folded: folded(text) }
  return last.folded
}

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character)
const isWordOrDash = (character: string | undefined): boolean => isWord(character) || character === '-'

/**
 * Yields the index after each occurrence of a name in a text, in any case and with any word separators (`order_id`,
 * `order id`, `Order-ID`). Names come from requests, so they are never compiled into a pattern.
 */
export function* placesBehind(text: string, name: string, wide = false): Generator<number> {
  if (name === '') return
  const [hay, needle] = [foldedOnce(text), folded(name)]
  const inside = wide ? isWordOrDash : isWord
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) {
    const end = at + needle.length
    if (!inside(text[at - 1]) && !inside(text[end])) yield end
  }
}
