import { html } from '../html.js'

/**
 * @typedef {import('../vendor/preact.js').ComponentChild} Child
 * @typedef {string | { name: string, head: Child, order?: 'ascending' | 'descending' | undefined }} Column `order`: by which the rows are sorted
 * @typedef {{ key: string, cells: readonly Child[] }} TableRow the first cell is the row's name
 */

/**
 * A table whose rows become blocks on narrow screens.
 *
 * @param {{ label: string, columns: readonly Column[], rows: readonly TableRow[] }} props
 */
export const Table = ({ label, columns, rows }) => html`
  <table class="grid" aria-label=${label}>
    <thead><tr>${columns.map(
      (column) =>
        html`<th scope="col" aria-sort=${typeof column === 'string' ? undefined : column.order}>${typeof column === 'string' ? column : column.head}</th>`,
    )}</tr></thead>
    <tbody>${rows.map(
      ({ key, cells }) => html`
      <tr key=${key}>${cells.map((cell, at) =>
        at === 0
          ? html`<th scope="row">${cell}</th>`
          : html`<td data-name=${nameIn(columns[at])} class=${cell === nothing ? 'none' : isShort(cell) ? 'short' : undefined}>${cell}</td>`,
      )}</tr>`,
    )}</tbody>
  </table>
`

/** @param {Column} [column] */
const nameIn = (column = '') => (typeof column === 'string' ? column : column.name)

/** Maximum length in characters of cells that are kept on one line, such as numbers and single words. */
const longestShort = 12

/** @param {Child} cell */
const isShort = (cell) => (typeof cell === 'string' || typeof cell === 'number') && String(cell).length <= longestShort

/** Placeholder for an empty cell. */
export const nothing = '–'
