import { download } from '../bundle.js'
import { html, useState } from '../html.js'
import { nameOf, withNames } from '../names.js'
import { sessionNow } from '../session.js'
import { ActButton } from './act-button.js'
import { csvOf, maxRows } from './csv.js'

/**
 * A button that saves all rows of a list with the current filters, not only the page that is shown, and says how many.
 *
 * @param {{ name: string, read: (cursor: string | undefined) => Promise<import('./csv.js').Page> }} props `name`: of the file
 */
export const CsvButton = ({ name, read }) => {
  const [count, setCount] = useState(-1)
  const save = async () => {
    /** @type {string[]} */
    const parts = []
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

/** Reads pages with the names of what they mention. @param {(cursor: string | undefined) => Promise<import('./csv.js').Page>} read */
const withNamesOf = (read) => async (/** @type {string | undefined} */ cursor) =>
  withNames(sessionNow().project ?? '', await read(cursor))
