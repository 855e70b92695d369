import { parseJson } from '#outgoing/wire.ts'

/**
 * Maps a text that may be JSON: as it is written, and each string in it that has escapes, as it is read. `\n` before a
 * word, and `\u0066` in one, would hide it.
 *
 * @param otherwise text in place of one in which something cannot be replaced.
 */
export const mappedJson = (written: string, map: (text: string) => string, otherwise: string): string => {
  const made = map(written)
  const texts = escapedIn(written).map(({ start, end }) => readAs(written.slice(start, end)))
  // all are mapped, whatever is found in the first ones
  const others = texts.map((text) => map(text))
  if (others.every((text, at) => text === texts[at])) return made
  const places = escapedIn(made)
  if (places.length !== texts.length) return otherwise
  const parts: string[] = []
  let from = 0
  for (const [at, { start, end }] of places.entries()) {
    parts.push(made.slice(from, start), others[at] === texts[at] ? made.slice(start, end) : JSON.stringify(others[at]))
    from = end
  }
  return parts.join('') + made.slice(from)
}

/** Where a string of JSON is in a text, with its quotes. */
interface StringPlace {
  readonly start: number
  readonly end: number
}

/** The strings with escapes of a text, also the one in which it is cut off. By hand: a pattern would need a deep stack. */
const escapedIn = (text: string): readonly StringPlace[] => {
  const places: StringPlace[] = []
  if (!text.includes('\\')) return places
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = start + 1
    let isEscaped = false
    for (; end < text.length && text[end] !== '"'; end++)
      if (text[end] === '\\') {
        isEscaped = true
        end++
      }
    end = Math.min(end + 1, text.length)
    if (isEscaped) places.push({ start, end })
    start = text.indexOf('"', end)
  }
  return places
}

/** The text of a string; of one that is cut off, of all that is there. */
const readAs = (string: string): string => {
  const text = parseJson(string) ?? parseJson(`${string}"`)
  // of one that is no JSON, its words at least stand apart
  return typeof text === 'string' ? text : string.replaceAll(/\\./gs, ' ')
}
