import { html } from '../html.js'

/**
 * @typedef {import('../vendor/preact.js').ComponentChild} Child
 * @typedef {{ key: string, cells: readonly Child[] }} TableRow the first cell is the row's name
 */

/**
 * A table whose rows become blocks on narrow screens.
 *
 * @param {{ label: string, columns: readonly string[], rows: readonly TableRow[] }} props
 */
export const Table = ({ label, columns, rows }) => html`
  <table class="grid" aria-label=${label}>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      ({ key, cells }) => html`
      <tr key=${key}>${cells.map((cell, at) =>
        at === 0
          ? html`<th scope="row">${cell}</th>`
          : html`<td data-name=${columns[at]} class=${cell === nothing ? 'none' : isShort(cell) ? 'short' : undefined}>${cell}</td>`,
      )}</tr>`,
    )}</tbody>
  </table>
`

/** Maximum length in characters of cells that are kept on one line, such as numbers and single words. */
const longestShort = 12

/** @param {Child} cell */
const isShort = (cell) => (typeof cell === 'string' || typeof cell === 'number') && String(cell).length <= longestShort

/** Placeholder for an empty cell. */
export const nothing = '–'
