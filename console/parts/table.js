import { areNumbers } from '../format.js'
import { html } from '../html.js'

/**
 * @typedef {import('../vendor/preact.js').ComponentChild} Child
 * @typedef {string | { name: string, head: Child, order?: 'ascending' | 'descending' | undefined }} Column `order`: by which the rows are sorted
 * @typedef {{ key: string, cells: readonly Child[] }} TableRow the first cell is the row's name
 */

/**
 * A table whose rows become blocks on narrow screens. Columns of numbers are aligned by their ends.
 *
 * @param {{ label: string, columns: readonly Column[], rows: readonly TableRow[] }} props
 */
export const Table = ({ label, columns, rows }) => {
  const ofNumbers = columns.map((_, at) => at > 0 && areNumbers(textsOf(rows.map(({ cells }) => cells[at]))))
  return html`
    <table class="grid" aria-label=${label}>
      <thead><tr>${columns.map(
        (column, at) =>
          html`<th scope="col" class=${ofNumbers[at] ? 'number' : undefined} aria-sort=${typeof column === 'string' ? undefined : column.order}>${typeof column === 'string' ? column : column.head}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        ({ key, cells }) => html`
        <tr key=${key}>${cells.map((cell, at) =>
          at === 0
            ? html`<th scope="row">${cell}</th>`
            : html`<td data-name=${nameIn(columns[at])} class=${classOf(cell, ofNumbers[at])}>${cell}</td>`,
        )}</tr>`,
      )}</tbody>
    </table>
  `
}

/** @param {Column} [column] */
const nameIn = (column = '') => (typeof column === 'string' ? column : column.name)

/** The texts among cells. @param {readonly Child[]} cells */
const textsOf = (cells) =>
  cells.flatMap((cell) =>
    (typeof cell === 'string' || typeof cell === 'number') && cell !== nothing ? [`${cell}`] : [],
  )

/** Maximum length in characters of cells that are kept on one line, such as single words. */
const longestShort = 12

/** @param {Child} cell @param {boolean} [isNumber] */
const classOf = (cell, isNumber) => {
  if (cell === nothing) return isNumber ? 'none number' : 'none'
  if (isNumber) return 'number'
  return (typeof cell === 'string' || typeof cell === 'number') && String(cell).length <= longestShort
    ? 'short'
    : undefined
}

/** Placeholder for an empty cell. */
export const nothing = '–'
