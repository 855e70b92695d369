import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { cellOf, nameOf, titleOf } from './row-text.js'

/** @typedef {import('./types.js').Row} Row */

/**
 * A table of a resource's rows: the name, which leads to the row, then the columns of the resource that say more.
 *
 * @param {{ resource: import('./types.js').Resource, rows: readonly Row[], hrefOf: (row: Row) => string }} props
 */
export const ResourceTable = ({ resource: { title, columns }, rows, hrefOf }) => {
  const shown = columns.filter((name) => rows.some((row) => row[name] !== nameOf(row)))
  const cells = shown.map((name) => [titleOf(name), (/** @type {Row} */ row) => cellOf(name, row[name])])
  /** @param {Row} row */
  const link = (row) => html`<a href=${hrefOf(row)} title=${String(row.id)}>${nameOf(row)}</a>`
  return html`<${Table} label=${title} columns=${{ Name: link, ...Object.fromEntries(cells) }} rows=${rows} keyOf=${(/** @type {Row} */ { id, version }) => String(id ?? version)} />`
}
