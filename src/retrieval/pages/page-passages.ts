/** A part of a text, with the headings above it. */
interface Part {
  readonly start: number
  readonly end: number
  readonly heading: string | null
}

/** A passage of a page is closed once it is so long, in characters: what answers a query is often more than a paragraph. */
const enough = 1_000
const longest = 2_000

/** Puts parts of a text that follow one another under one heading together, to passages that are searched. */
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

/** What a passage stands under, for words and vectors alike: the title of the page above its first, and its headings. */
export const aboveOf = (title: string, { heading }: Pick<Part, 'heading'>, order: number): string =>
  [order === 0 ? title : null, heading].filter(Boolean).join(' › ')
