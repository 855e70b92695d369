/** The value that a placeholder stands for; undefined where none is given back. */
export type ValueOf = (label: string, number: number) => string | undefined

/** Values of one label, from a number on: lines of pages, empty where none is given back. */
type Values = { readonly first: number; readonly pages: readonly string[] }

/**
 * What the placeholders of a request stand for, as it goes from thread to thread: a hostile request has 300,000 values, and
 * a map of them would hold up both to be sent, where some long texts are copied.
 */
export type KeptValues = { readonly [label: string]: Values }

const linesAPage = 256

/** @param values by names such as `EMAIL_1`, the numbers of a label rising; none has a line end. */
export const keptValues = (values: ReadonlyMap<string, string>): KeptValues => {
  const labels = new Map<string, { readonly first: number; readonly lines: string[] }>()
  for (const [name, value] of values) {
    const cut = name.lastIndexOf('_')
    const label = name.slice(0, cut)
    const number = Number(name.slice(cut + 1))
    const known = labels.get(label) ?? { first: number, lines: [] }
    labels.set(label, known)
    while (known.lines.length < number - known.first) known.lines.push('')
    known.lines.push(value)
  }
  return Object.fromEntries([...labels].map(([label, { first, lines }]) => [label, { first, pages: pagesOf(lines) }]))
}

/** Looks values up, at the same cost however many there are. */
export const lookUp = (values: KeptValues): ValueOf => {
  // an answer that repeats its request needs the values in their order
  let page: string | undefined
  let lines: readonly string[] = []
  return (label, number) => {
    const { first, pages } = values[label] ?? none
    const place = number - first
    const found = pages[Math.floor(place / linesAPage)]
    if (found !== page) {
      page = found
      lines = found?.split('\n') ?? []
    }
    return lines[place % linesAPage] || undefined
  }
}

const none: Values = { first: 0, pages: [] }

const pagesOf = (lines: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(lines.length / linesAPage) }, (_, page) =>
    lines.slice(page * linesAPage, (page + 1) * linesAPage).join('\n'),
  )
