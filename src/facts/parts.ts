/** A part of a text that makes a statement of its own. */
export interface TextPart {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Ends of sentences. A full stop between digits or after a single letter ends none. */
const sentenceEnd =
  /(?:(?<![\s.]\p{L})(?<!\b(?:Dr|Mr|Ms|Mrs|St|vs|No|ca))(?<![.!?…])[.!?…]{1,6}["'”’)]{0,3}(?=\s|$)|[。！？；;\n])/gu

/**
 * Where a clause with a subject of its own begins: a comma or a conjunction before a pronoun or a possessive, in the
 * languages that are read.
 */
const clauseBorder =
  /(?:,\s{0,4}(?:(?:and|but|so|while|und|aber|y|pero|et|mais|e|ma|и|а|но)\s{1,4})?|(?<!\s)\s{1,4}(?:and|but|so|while|und|aber|y|pero|et|mais|e|ma|и|а|но)\s{1,4})(?=(?:I|I'm|I've|I'd|I'll|we|we're|we've|my|our|he|she|he's|she's|they|it|it's|his|her|their|there's|on \p{Lu}\p{L}{1,12}days|ich|wir|mein|meine|unser|unsere|er|sie|yo|mi|mis|nuestro|nuestra|él|ella|soy|estoy|tengo|vivo|je|j'|mon|ma|mes|nous|notre|il|elle|eu|o meu|a minha|meu|minha|nós|sou|tenho|moro|io|mio|mia|noi|sono|ho|il mio|la mia|я|мы|мой|моя|моё|мои|у меня|у нас|он|она)(?!\p{L}))|[，、]/giu

const minLetters = 2
const letters = /\p{L}/gu

/**
 * Splits a text into the statements that it makes: at the ends of sentences, and where a clause with another subject
 * begins. Every part is a piece of the text, in order.
 */
export const partsOf = (text: string): readonly TextPart[] => {
  const borders = [...text.matchAll(sentenceEnd)].map((found) => ({
    from: found.index + found[0].length,
    to: found.index + found[0].length,
  }))
  for (const found of text.matchAll(clauseBorder))
    borders.push({ from: found.index, to: found.index + found[0].length })
  const parts: TextPart[] = []
  let start = 0
  const end = text.length
  for (const { from, to } of [...borders.toSorted((a, b) => a.from - b.from), { from: end, to: end }]) {
    if (!isStatement(text.slice(start, from))) continue
    parts.push(trimmed(text, start, from))
    start = to
  }
  return parts.length > 0 ? parts : [{ text, start: 0, end }]
}

const isStatement = (text: string): boolean => (text.match(letters) ?? []).length >= minLetters

const trimmed = (text: string, from: number, to: number): TextPart => {
  const piece = text.slice(from, to)
  const start = from + (piece.length - piece.trimStart().length)
  const end = start + piece.trim().length
  return { text: text.slice(start, end), start, end }
}
