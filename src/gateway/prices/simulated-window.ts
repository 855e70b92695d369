const name = /^simulated-context-(\d{1,9})$/

/**
 * Returns the context window in tokens given in the name of a simulated model: `simulated-context-4000`. Null when the
 * name gives none.
 */
export const simulatedWindow = (model: string): number | null => {
  const [, tokens] = name.exec(model) ?? []
  return tokens === undefined ? null : Number(tokens)
}
