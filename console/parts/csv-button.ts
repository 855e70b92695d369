import { download } from '../dom.ts'
import { html, useState } from '../html.ts'
import { nameOf, withNames } from '../names.ts'
import { sessionNow } from '../session.ts'
import { ActButton } from './act-button.ts'
import { csvOf, maxRows, type Page } from './csv.ts'

/**
 * A button that saves all rows of a list with the current filters, not only the page that is shown, and says how many.
 *
 * @param props `name`: of the file
 */
export const CsvButton = ({ name, read }: { name: string; read: (cursor: string | undefined) => Promise<Page> }) => {
  const [count, setCount] = useState(-1)
  const save = async () => {
    const parts: string[] = []
    let rows = 0
    for await (const part of csvOf(withNamesOf(read), nameOf)) {
      parts.push(part.text)
      rows += part.rows
      setCount(rows)
    }
    download(`${name}.csv`, new Blob(parts), 'text/csv;charset=utf-8')
  }
  const rows = count.toLocaleString('en')
  return html`<${ActButton} label="CSV" act=${save} /> <span class="muted" role="status">${count >= 0 && (count >= maxRows ? `The first ${rows} rows.` : `${rows} rows.`)}</span>`
}

/** Reads pages with the names of what they mention. */
const withNamesOf = (read: (cursor: string | undefined) => Promise<Page>) => async (cursor: string | undefined) =>
  withNames(sessionNow().project ?? '', await read(cursor))
