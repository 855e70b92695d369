import { wordsOf } from '../api.ts'
import { html } from '../html.ts'
import type { ComponentChildren as Children } from '../vendor/preact.js'
import { Table } from './table.ts'

/** A part of a page that lists rows, or says why there are none. */
export const TablePanel = ({
  label,
  table = label,
  head,
  lead,
  empty,
  columns,
  rows,
  keyOf,
  children,
}: Props & {
  /** the label of the table, where it differs */
  table?: string
  head?: Children
  /** what precedes the rows */
  lead?: Children
  /** what it says without rows */
  empty?: Children
  columns: Columns<any>
  rows: readonly any[]
  keyOf?: (row: any, index: number) => string | number
}) => html`
  <section class="panel" aria-label=${label}>
    ${head && html`<h2>${head}</h2>`}
    ${lead}
    ${rows.length === 0 && empty !== undefined ? html`<p class="panel-part muted">${empty}</p>` : html`<${Table} label=${table} columns=${columns} rows=${rows} keyOf=${keyOf} />`}
    ${children}
  </section>
`

/** A part of a page about what was chosen, which is read by itself and can be closed. */
export const ReadPanel = ({
  label,
  head,
  close,
  read: { data, error },
  failed,
  show,
  children,
}: Omit<Props, 'close'> & {
  head: Children
  /** address without it */
  close: string
  /** what `useRead` returns */
  read: { data: any; error: unknown }
  /** what it says when it cannot be read, in place of the error */
  failed?: string
  show: (data: any) => Children
}) => html`
  <section class="panel" aria-label=${label}>
    <h2>${head} <a class="close" href=${close}>Close</a></h2>
    ${children}
    ${error !== null && html`<p class="panel-part trouble" role="alert">${failed ?? wordsOf(error)}</p>`}
    ${data !== null && show(data)}
  </section>
`
