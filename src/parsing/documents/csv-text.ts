/**
 * Yields the rows of a CSV file (RFC 4180). The separator is `,`, `;` or a tab, whichever is most frequent in the first
 * line.
 */
export function* csvRows(text: string): Generator<readonly string[]> {
  const separator = separatorOf(text)
  let row: string[] = []
  for (let at = 0; at <= text.length; ) {
    const field = text[at] === '"' ? quoted(text, at, separator) : plain(text, at, separator)
    row.push(field.value)
    at = field.end
    if (text[at] === separator) {
      at += 1
      continue
    }
    if (row.length > 1 || row[0] !== '') yield row
    row = []
    if (text[at] === '\r') at += 1
    at += 1
  }
}

interface Field {
  readonly value: string
  readonly end: number
}

const separatorOf = (text: string): string => {
  const line = text.slice(0, Math.min(text.length, 10_000)).split('\n', 1)[0] ?? ''
  const counted = [',', ';', '\t'].map((each) => ({ each, count: line.split(each).length }))
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).each
}

const plain = (text: string, start: number, separator: string): Field => {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1
  return { value: text.slice(start, end).trim(), end }
}

const quoted = (text: string, start: number, separator: string): Field => {
  const parts: string[] = []
  let at = start + 1
  for (;;) {
    const found = text.indexOf('"', at)
    if (found === -1) return { value: parts.join('') + text.slice(at), end: text.length }
    parts.push(text.slice(at, found))
    if (text[found + 1] !== '"') {
      const behind = plain(text, found + 1, separator)
      return { value: parts.join('') + behind.value, end: behind.end }
    }
    parts.push('"')
    at = found + 2
  }
}

/** Converts a CSV file to text: one paragraph per row, with the column name before each value. */
export const csvText = (text: string): string => {
  let names: readonly string[] | null = null
  const paragraphs: string[] = []
  for (const row of csvRows(text)) {
    if (names === null) {
      names = row
      continue
    }
    const known = names
    paragraphs.push(
      row
        .flatMap((value, index) => (value === '' ? [] : [known[index] ? `${known[index]}: ${value}` : value]))
        .join('\n'),
    )
  }
  return paragraphs.length === 0 ? (names ?? []).join('\n') : paragraphs.filter((each) => each !== '').join('\n\n')
}
