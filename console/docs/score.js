/** @typedef {readonly [title: string, place: string, path: string, text: string]} Entry */

const maxWords = 8

/** The words of a query, in lower case. @param {string} query */
export const wordsOf = (query) =>
  query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .slice(0, maxWords)

/** How well an entry answers a query; 0 if one of the words is missing. @param {Entry} entry @param {readonly string[]} words */
export const scoreOf = ([title, place, path, text], words) => {
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
