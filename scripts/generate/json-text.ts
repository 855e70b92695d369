const width = 120

/**
 * Formats JSON with each object and list on one line if it fits into 120 characters. This gives a third of the lines,
 * and changes that are readable on their own.
 */
export const jsonText = (value: unknown): string => `${written(value, '', 0)}\n`

/** @param used number of characters on the line before the value, without indentation, and after it. */
const written = (value: unknown, indent: string, used: number): string => {
  const line = inOneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + used + line.length <= width) return line
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => inner + written(item, inner, 1))
    : entriesOf(value).map(
        ([name, child]) => `${inner}${JSON.stringify(name)}: ${written(child, inner, name.length + 5)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

const inOneLine = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = entriesOf(value).map(([name, child]) => `${JSON.stringify(name)}: ${inOneLine(child)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** Entries that JSON includes: all except undefined ones. */
const entriesOf = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value).filter(([, child]) => child !== undefined)
