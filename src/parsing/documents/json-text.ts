/**
 * Converts a JSON document to text: one line per value, preceded by its path, and one paragraph per object of a list.
 */
export const jsonText = (text: string): string => {
  const lines: string[] = []
  const waiting: { readonly path: string; readonly value: unknown }[] = [{ path: '', value: JSON.parse(text) }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value } = next
    if (typeof value !== 'object' || value === null) {
      lines.push(path === '' ? String(value) : `${path}: ${value}`)
      continue
    }
    const isList = Array.isArray(value)
    const entries = Object.entries(value).map(([name, each]) => ({ path: pathOf(path, name, isList), value: each }))
    if (isList && entries.some(({ value: each }) => typeof each === 'object')) lines.push('')
    for (const entry of entries.reverse()) waiting.push(entry)
    if (!isList && lines.length > 0) lines.push('')
  }
  return lines.join('\n')
}

const maxPathLength = 200

/** Returns the path of a value. Indices are omitted, since they do not describe an item; the list's name does. */
const pathOf = (path: string, name: string, isList: boolean): string =>
  isList ? path : `${path === '' ? '' : `${path}.`}${name}`.slice(-maxPathLength)
