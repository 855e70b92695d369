/** Returns the value of a placeholder; undefined when it is not to be restored. */
export type ValueOf = (label: string, number: number) => string | undefined

/**
 * Values of one label, numbered from `first`, as pages of newline-separated values; an empty line marks a value that is
 * not restored.
 */
type Values = { readonly first: number; readonly pages: readonly string[] }

/**
 * Values of the placeholders of a request, in the form in which they pass between threads. A hostile request can have
 * 300,000 values; cloning a map of them would block both threads, while a few long strings are copied quickly.
 */
export type KeptValues = { readonly [label: string]: Values }

const linesAPage = 256

/** @param values values by name such as `EMAIL_1`, with ascending numbers per label; no value contains a line break. */
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

/** Returns a lookup whose cost does not depend on the number of values. */
export const lookup = (values: KeptValues): ValueOf => {
  // a response that repeats its request needs the values in ascending order, so the last page is kept split
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
