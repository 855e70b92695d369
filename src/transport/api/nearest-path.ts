import { distance } from 'fastest-levenshtein'

/** Longer paths are not compared: no person types them, and each comparison costs the product of both lengths. */
const maxLength = 120

/** Share of a path's letters that may differ. Below it no two declared paths of the same shape are confused. */
const maxShare = 0.2

/**
 * Returns the declared path template that a caller probably meant: with `/v1` left out or written twice, with a slash at
 * its end, in capitals, or misspelt by a few letters. Null: none is near.
 *
 * @param templates such as `/v1/sessions/{session_id}/turns`.
 */
export const nearestPath = (path: string, templates: Iterable<string>): string | null => {
  if (path.length > maxLength) return null
  const written = tidy(path)
  const segments = written.split('/')
  let [nearest, best]: [string | null, number] = [null, Math.max(2, written.length * maxShare)]
  for (const template of templates) {
    const steps = distance(written, filled(template, segments))
    if (steps < best) [nearest, best] = [template, steps]
  }
  return nearest
}

const tidy = (path: string): string => {
  const inner = path
    .toLowerCase()
    .split('/')
    .filter((segment, at, all) => segment !== '' && !(segment === 'v1' && all[at - 1] === 'v1'))
  return `/${(/^v\d/.test(inner[0] ?? '') ? inner : ['v1', ...inner]).join('/')}`
}

/** The template with what was written in place of its parameters, so that only its words are compared. */
const filled = (template: string, segments: readonly string[]): string =>
  template
    .split('/')
    .map((segment, at) => (segment.startsWith('{') ? (segments[at] ?? segment) : segment))
    .join('/')
