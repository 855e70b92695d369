/** A part of a text, with its headings. */
interface Part {
  readonly start: number
  readonly end: number
  readonly heading: string | null
}

/** Length in characters from which a passage takes no further parts; an answer is often longer than a paragraph. */
const enough = 1_000
const longest = 2_000

/** Joins adjacent parts under the same heading into passages for search. */
export const pagePassages = (parts: Iterable<Part>): readonly Part[] => {
  const passages: Part[] = []
  for (const { start, end, heading } of parts) {
    const last = passages.at(-1)
    const isOpen = last !== undefined && last.heading === heading && last.end - last.start < enough
    if (isOpen && end - last.start <= longest) passages[passages.length - 1] = { ...last, end }
    else passages.push({ start, end, heading })
  }
  return passages
}

/**
 * Returns the text above a passage, for both words and vectors: its headings, preceded by the page's title for the
 * first passage.
 */
export const aboveOf = (title: string, { heading }: Pick<Part, 'heading'>, order: number): string =>
  [order === 0 ? title : null, heading].filter(Boolean).join(' › ')
