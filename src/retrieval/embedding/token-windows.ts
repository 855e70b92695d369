/** Tokens of a text that are read together. */
const maxWindowTokens = 96

/**
 * Returns tokens of a text in windows of as many as are read together, each with what stands before every text and ends it:
 * numbers and codes have a token for each letter or two, and what follows them would not be read.
 *
 * @param empty tokens of a text without words.
 */
export function windowsOf(tokens: readonly number[], empty: readonly number[]): readonly (readonly number[])[] {
  if (tokens.length <= maxWindowTokens) return [tokens]
  const common = empty.findIndex((token, at) => token !== tokens[at])
  const [before, end] = [tokens.slice(0, common), tokens.slice(-1)]
  const size = maxWindowTokens - before.length - 1
  const body = tokens.slice(common, -1)
  const count = Math.ceil(body.length / size)
  return Array.from({ length: count }, (_, at) => [...before, ...body.slice(at * size, (at + 1) * size), ...end])
}
