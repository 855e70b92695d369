export type Entry = readonly [title: string, place: string, path: string, text: string]

const maxWords = 8

/** The words of a query, in lower case. */
export const wordsOf = (query: string) =>
  query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .slice(0, maxWords)

/** How well an entry answers a query; 0 if one of the words is missing. */
export const scoreOf = ([title, place, path, text]: Entry, words: readonly string[]) => {
  let sum = 0
  const [inTitle, inPlace, inText] = [title, `${place} ${path}`, text].map((each) => each.toLowerCase())
  for (const word of words) {
    const score =
      (inTitle?.includes(word) ? 8 : 0) + (inPlace?.includes(word) ? 4 : 0) + (inText?.includes(word) ? 1 : 0)
    if (score === 0) return 0
    sum += score
  }
  return sum
}
