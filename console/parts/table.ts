import { areNumbers } from '../format.ts'
import { html } from '../html.ts'
import type { ComponentChild as Child } from '../vendor/preact.js'
import { nothing } from './cells.ts'

/** `order`: by which the rows are sorted */
type Head = Readonly<{ head: Child; order?: 'ascending' | 'descending' | undefined }>

/** the rows of a table; `keyOf`: by default the id of the row, or its place */
export interface Listed<Row> {
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  readonly keyOf?: (row: Row, index: number) => string | number
}

const idOr = (row: unknown, index: number) =>
  typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : index

/**
 * A table whose rows become blocks on narrow screens. Columns of numbers are aligned by their ends.
 *
 * @param props `heads`: of columns that show more than their name
 */
export const Table = <Row>(props: Props & Listed<Row> & { heads?: Readonly<Record<string, Head>> }) => {
  const { label, columns, rows, keyOf = idOr, heads = {} } = props
  const names = Object.keys(columns)
  const cells = rows.map((row, index) => Object.values(columns).map((cell) => cell(row, index)))
  const ofNumbers = names.map((_, at) => at > 0 && areNumbers(textsOf(cells.map((each) => each[at]))))
  return html`
    <table class="data" aria-label=${label}>
      <thead><tr>${names.map(
        (name, at) =>
          html`<th scope="col" class=${ofNumbers[at] ? 'number' : undefined} aria-sort=${heads[name]?.order}>${heads[name]?.head ?? name}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        (row, index) => html`
        <tr key=${keyOf(row, index)}>${cells[index]?.map((cell, at) =>
          at === 0
            ? html`<th scope="row">${cell}</th>`
            : html`<td data-name=${names[at]} class=${classOf(cell, ofNumbers[at])}>${cell}</td>`,
        )}</tr>`,
      )}</tbody>
    </table>
  `
}

/** The texts among cells. */
const textsOf = (cells: readonly Child[]) =>
  cells.flatMap((cell) =>
    (typeof cell === 'string' || typeof cell === 'number') && cell !== nothing ? [`${cell}`] : [],
  )

/** Maximum length in characters of cells that are kept on one line, such as single words. */
const longestShort = 12

const classOf = (cell: Child, isNumber?: boolean) => {
  if (cell === nothing) return isNumber ? 'none number' : 'none'
  if (isNumber) return 'number'
  return (typeof cell === 'string' || typeof cell === 'number') && String(cell).length <= longestShort
    ? 'short'
    : undefined
}
