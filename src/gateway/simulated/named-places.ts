/** ASCII letters lower, and what a name may have between its words as a space. The length stays. */
const folded = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).replace(/[_\s-]/g, ' ')

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character)
const isWordOrDash = (character: string | undefined): boolean => isWord(character) || character === '-'

/**
 * Where a text says a name, in whatever case and with its words apart (`order_id`, `order id`, `Order-ID`): the index
 * behind each place. Names come from requests, so they are searched for and never made a pattern of.
 */
export function* placesBehind(text: string, name: string, wide = false): Generator<number> {
  if (name === '') return
  const [hay, needle] = [folded(text), folded(name)]
  const inside = wide ? isWordOrDash : isWord
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) {
    const end = at + needle.length
    if (!inside(text[at - 1]) && !inside(text[end])) yield end
  }
}
