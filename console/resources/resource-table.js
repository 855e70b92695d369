import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { cellOf, nameOf, titleOf } from './row-text.js'

/**
 * A table of a resource's rows: the name, which leads to the row, then the columns of the resource that say more.
 *
 * @param {{ resource: import('./types.js').Resource, rows: readonly import('./types.js').Row[], hrefOf: (row: import('./types.js').Row) => string }} props
 */
export const ResourceTable = ({ resource: { title, columns: all }, rows, hrefOf }) => {
  const columns = all.filter((name) => rows.some((row) => row[name] !== nameOf(row)))
  return html`<${Table} label=${title} columns=${['Name', ...columns.map(titleOf)]} rows=${rows.map((row) => ({
    key: String(row.id ?? row.version),
    cells: [
      html`<a href=${hrefOf(row)} title=${String(row.id)}>${nameOf(row)}</a>`,
      ...columns.map((name) => cellOf(name, row[name])),
    ],
  }))} />`
}
