import { wordsOf } from '../api.js'
import { html } from '../html.js'
import { Table } from './table.js'

/** @typedef {import('../vendor/preact.js').ComponentChildren} Children */

/**
 * A part of a page that lists rows, or says why there are none.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} [props.table] the label of the table, where it differs
 * @param {Children} [props.head]
 * @param {Children} [props.lead] what precedes the rows
 * @param {Children} [props.empty] what it says without rows
 * @param {Columns<any>} props.columns
 * @param {readonly any[]} props.rows
 * @param {(row: any, index: number) => string | number} [props.keyOf]
 * @param {Children} [props.children] what follows the table
 */
export const TablePanel = ({ label, table = label, head, lead, empty, columns, rows, keyOf, children }) => html`
  <section class="panel" aria-label=${label}>
    ${head && html`<h2>${head}</h2>`}
    ${lead}
    ${rows.length === 0 && empty !== undefined ? html`<p class="panel-part muted">${empty}</p>` : html`<${Table} label=${table} columns=${columns} rows=${rows} keyOf=${keyOf} />`}
    ${children}
  </section>
`

/**
 * A part of a page about what was chosen, which is read by itself and can be closed.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {Children} props.head
 * @param {string} props.close address without it
 * @param {{ data: any, error: unknown }} props.read what `useRead` returns
 * @param {string} [props.failed] what it says when it cannot be read, in place of the error
 * @param {(data: any) => Children} props.show
 * @param {Children} [props.children] before what was read
 */
export const ReadPanel = ({ label, head, close, read: { data, error }, failed, show, children }) => html`
  <section class="panel" aria-label=${label}>
    <h2>${head} <a class="close" href=${close}>Close</a></h2>
    ${children}
    ${error !== null && html`<p class="panel-part trouble" role="alert">${failed ?? wordsOf(error)}</p>`}
    ${data !== null && show(data)}
  </section>
`
