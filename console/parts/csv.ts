type Row = Readonly<Record<string, unknown>>

export type Page = Readonly<{ data: readonly Row[]; next_cursor: string | null }>

/** Maximum number of rows of a file. */
export const maxRows = 10_000

/** A text that a spreadsheet would run as a formula: also in full width, and after anything that it skips. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/u

/**
 * A cell as RFC 4180 writes it; a text that looks like a formula gets an apostrophe before it. `;` is quoted, since
 * some spreadsheets split at it, and a NUL, which ends the file for others, is replaced.
 */
const cellOf = (value: unknown) => {
  if (value === null || value === undefined) return ''
  const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '\ufffd')
  const safe = typeof value === 'string' && formula.test(value) ? `'${text}` : text
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A row with its nested objects as fields of their own, such as `actor.id`; lists as one text. */
const flat = (row: Row): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return [[name, value.join('; ')]]
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
      return Object.entries(flat(Object.fromEntries(Object.entries(value)))).map(([part, each]) => [
        `${name}.${part}`,
        each,
      ])
    }),
  )

/** Adds the names of what a row names by ids. */
const named = (row: Record<string, unknown>, nameOf: (id: string) => string) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([field, id]) => {
      if (!/^(tenant|agent|key)_id$/.test(field)) return [[field, id]]
      const name = typeof id === 'string' && nameOf(id) !== id ? nameOf(id) : null
      return [
        [field, id],
        [field.replace('_id', '_name'), name],
      ]
    }),
  )

const lineOf = (cells: readonly unknown[]) => `${cells.map(cellOf).join(',')}\r\n`

/**
 * The rows of all pages as CSV, page after page, up to `maxRows`. The columns are the fields of the first page's rows.
 *
 * @param nameOf the name of an id, or the id
 */
export async function* csvOf(read: (cursor: string | undefined) => Promise<Page>, nameOf: (id: string) => string) {
  let columns: readonly string[] = []
  let count = 0
  for (let cursor: string | undefined, first = true; ; first = false) {
    const { data, next_cursor } = await read(cursor)
    const rows = data.slice(0, maxRows - count).map((row) => named(flat(row), nameOf))
    if (first) columns = [...new Set(rows.flatMap(Object.keys))]
    if (first) yield { text: lineOf(columns), rows: 0 }
    count += rows.length
    yield { text: rows.map((row) => lineOf(columns.map((name) => row[name]))).join(''), rows: rows.length }
    if (next_cursor === null || count >= maxRows) return
    cursor = next_cursor
  }
}
