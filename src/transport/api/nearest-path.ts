import { distance } from 'fastest-levenshtein'

/** Longer paths are not compared: people write none, and each comparison costs the product of both lengths. */
const maxLength = 120

/** Share of a path's letters that may differ. Below it no two declared paths of the same shape are confused. */
const maxShare = 0.2

/**
 * Prepares the search for the declared path template that a caller probably meant: with `/v1` left out or written twice,
 * with a slash at its end, in capitals, or misspelt by a few letters. It returns null if none is near.
 *
 * @param declared templates such as `/v1/sessions/{session_id}/turns`.
 */
export const nearestPath = (declared: Iterable<string>): ((path: string) => string | null) => {
  const templates = [...declared].map((template) => ({ template, words: template.split('/') }))
  return (path) => {
    if (path.length > maxLength) return null
    const written = tidy(path)
    const segments = written.split('/')
    let [nearest, bound]: [string | null, number] = [null, Math.max(2, written.length * maxShare)]
    for (const { template, words } of templates) {
      // paths differ by at least their lengths: without a credential most must cost next to nothing
      if (Math.abs(filledLength(words, segments) - written.length) >= bound) continue
      const steps = distance(written, words.map((word, at) => filled(word, segments[at])).join('/'))
      if (steps < bound) [nearest, bound] = [template, steps]
    }
    return nearest
  }
}

const tidy = (path: string): string => {
  const inner = path
    .toLowerCase()
    .split('/')
    .filter((segment, at, all) => segment !== '' && !(segment === 'v1' && all[at - 1] === 'v1'))
  return `/${(/^v\d/.test(inner[0] ?? '') ? inner : ['v1', ...inner]).join('/')}`
}

/** A word of a template, or what was written in place of a parameter, so that only the words are compared. */
const filled = (word: string, segment: string | undefined): string => (word.startsWith('{') ? (segment ?? word) : word)

const filledLength = (words: readonly string[], segments: readonly string[]): number => {
  let length = words.length - 1
  for (const [at, word] of words.entries()) length += filled(word, segments[at]).length
  return length
}
