/** A JSON document as text: a line a value, with its path before it, and a paragraph for each object of a list. */
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

/** The place of a value of a list says nothing of it: the list's own name stands before it. */
const pathOf = (path: string, name: string, isList: boolean): string =>
  isList ? path : `${path === '' ? '' : `${path}.`}${name}`.slice(-maxPathLength)
