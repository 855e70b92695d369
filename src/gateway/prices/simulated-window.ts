const name = /^simulated-context-(\d{1,9})$/

/** The context window that the name of a simulated model says, in tokens: `simulated-context-4000`. Null: it says none. */
export const simulatedWindow = (model: string): number | null => {
  const [, tokens] = name.exec(model) ?? []
  return tokens === undefined ? null : Number(tokens)
}
