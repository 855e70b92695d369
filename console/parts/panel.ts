import { html } from '../html.ts'
import type { ComponentChildren as Children } from '../vendor/preact.js'
import { type Listed, Table } from './table.ts'
import { Trouble } from './trouble.ts'
import type { useRead } from './use-read.ts'

/** A part of a page that lists rows, or says why there are none. */
export const TablePanel = <Row>(
  props: Props &
    Listed<Row> & {
      /** the label of the table, where it differs */
      table?: string
      head?: Children
      /** what it says without rows */
      empty?: Children
    },
) => {
  const { label, table = label, head, empty, columns, rows, children } = props
  return html`
    <section class="panel" aria-label=${label}>
      ${head && html`<h2>${head}</h2>`}
      ${rows.length === 0 && empty !== undefined ? html`<p class="panel-part muted">${empty}</p>` : html`<${Table} label=${table} columns=${columns} rows=${rows} />`}
      ${children}
    </section>
  `
}

/** A part of a page about what was chosen, which is read by itself and can be closed. */
export const ReadPanel = <Data>(
  props: Omit<Props, 'close'> & {
    head: Children
    /** address without it */
    close: string
    read: Pick<ReturnType<typeof useRead<Data>>, 'data' | 'error'>
    show: (data: Data) => Children
  },
) => {
  const { label, head, close, read, show, children } = props
  return html`
    <section class="panel" aria-label=${label}>
      <h2>${head} <a class="close" href=${close}>Close</a></h2>
      ${children}
      <${Trouble} error=${read.error} within="panel-part" />
      ${read.data !== null && show(read.data)}
    </section>
  `
}
