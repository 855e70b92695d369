import { html, useState } from '../html.js'
import { nameOf } from '../names.js'
import { cellOf } from '../resources/row-text.js'
import { CsvButton } from './csv-button.js'
import { Pages } from './pages.js'
import { QueryForm } from './query-form.js'
import { Table } from './table.js'
import { ViewsMenu } from './views-menu.js'

/**
 * @typedef {import('../vendor/preact.js').ComponentChildren} Children
 * @typedef {string | number | null | undefined} Value
 * @typedef {{ name: string, title: string, field?: string, cell?: (row: any) => import('../vendor/preact.js').ComponentChild, value?: (row: any) => Value, off?: boolean }} Column
 *   `field`: of the row, which is shown and sorted by unless `cell` and `value` say otherwise; `off`: not shown unless chosen
 * @typedef {import('./query-form.js').QueryField} QueryField
 * @typedef {{ project: string, query: Query, page: string, to: (changes: Query) => string }} ListPlace
 *   `page`: names the list in saved views; `to`: the hash with changed parameters
 */

/** By what a row is sorted: the name of what a field names by its id. @param {Column} column @param {any} row @returns {Value} */
const sortedBy = ({ field, value }, row) => {
  if (value !== undefined) return value(row)
  const own = field === undefined ? null : row[field]
  if (typeof own === 'string' && own !== '' && Number.isFinite(Number(own))) return Number(own)
  return typeof own === 'string' ? nameOf(own) : own !== null && typeof own === 'object' ? JSON.stringify(own) : own
}

/** @param {Column} column @param {any} row */
const shownIn = ({ field = '', cell }, row) => (cell === undefined ? cellOf(field, row) : cell(row))

/** The cells of columns by their titles. @param {readonly Column[]} columns @returns {Columns<any>} */
export const cellsOf = (columns) =>
  Object.fromEntries(columns.map((column) => [column.title, (row) => shownIn(column, row)]))

/**
 * A list of rows with filters, columns, an order within its page, saved views and a file of all rows. All that is
 * chosen is in the address.
 *
 * @param {object} props
 * @param {ListPlace} props.place
 * @param {string} props.title
 * @param {readonly Column[]} props.columns the first is the name of the row
 * @param {readonly any[]} props.rows
 * @param {(row: any) => string} [props.keyOf]
 * @param {readonly QueryField[]} props.fields the first is always shown
 * @param {string | null} props.next cursor of the next page
 * @param {(cursor: string | undefined) => Promise<import('./csv.js').Page>} props.read a page of a file
 * @param {Children} props.empty
 * @param {Children} [props.children] beside the tools of the list
 */
export const ListView = ({ place, title, columns, rows, keyOf, fields, next, read, empty, children }) => {
  const { query, to } = place
  const chosen = (query.columns ?? '').split(',').filter(Boolean)
  const shown = columns.filter(({ name, off }, at) =>
    at === 0 || chosen.length === 0 ? off !== true : chosen.includes(name),
  )
  const heads = Object.fromEntries(shown.map((column) => [column.title, headOf(column, place)]))
  return html`
    <div class="flex flex-wrap items-start justify-between gap-x-16 gap-y-8 px-(--inset) py-10">
      ${fields.length > 0 && html`<${Filters} place=${place} fields=${fields} />`}
      <span class="list-menus row">
        ${children}
        <${ColumnsMenu} columns=${columns} shown=${shown} to=${to} />
        <${ViewsMenu} place=${place} viewed=${viewed(query, fields)} all=${to({ ...Object.fromEntries(keptOf(fields).map((name) => [name, ''])), view: 'all' })} />
        <${CsvButton} name=${title} read=${read} />
      </span>
    </div>
    ${
      rows.length === 0
        ? empty
        : html`<${Table} label=${title} columns=${cellsOf(shown)} rows=${sorted(rows, columns, query.sort)} keyOf=${keyOf} heads=${heads} />`
    }
    <${Pages} first=${query.after ? to({ after: '' }) : null} next=${next && to({ after: next })} />
  `
}

/** @param {readonly QueryField[]} fields */
const keptOf = (fields) => ['columns', 'sort', ...fields.map(({ name }) => name)]

/** What a saved view keeps of the address: filters, columns and order, and whose memories it lists. @param {Query} query @param {readonly QueryField[]} fields @returns {Query} */
const viewed = (query, fields) => {
  const names = ['user', 'tenant', ...keptOf(fields)]
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' && names.includes(name)))
}

/** @param {Column} column @param {ListPlace} place */
const headOf = ({ name, title, field, value }, { query: { sort = '' }, to }) => {
  if (field === undefined && value === undefined) return { head: title }
  const order = sort === `-${name}` ? 'descending' : sort === name ? 'ascending' : undefined
  const next = order === undefined ? `-${name}` : order === 'descending' ? name : ''
  return {
    order,
    head: html`<a href=${to({ sort: next })} title="Sort the rows of this page">${title}${order && html` <span aria-hidden="true">${order === 'ascending' ? '↑' : '↓'}</span>`}</a>`,
  }
}

/** @param {readonly any[]} rows @param {readonly Column[]} columns @param {string} [sort] */
const sorted = (rows, columns, sort = '') => {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''))
  if (column === undefined) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => sign * compared(sortedBy(column, a), sortedBy(column, b)))
}

/** Empty values come last in ascending order. @param {Value} a @param {Value} b */
const compared = (a = null, b = null) => {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
}

/** The first filter, the others behind a button, and those that are set as links which remove them. @param {{ place: ListPlace, fields: readonly QueryField[] }} props */
const Filters = ({ place, fields }) => {
  const { query, to } = place
  const set = fields.filter(({ name }) => query[name])
  const [open, setOpen] = useState(false)
  const [first, ...others] = fields
  return html`
    <div class="list-filters">
      <${QueryForm} place=${{ query }} label="Filters" button="Apply" fields=${open || first === undefined ? fields : [first]} fresh=${['after']} to=${to}>
        ${others.length > 0 && html`<button type="button" class="quiet" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'Fewer filters' : 'More filters'}</button>`}
      <//>
      ${
        set.length > 0 &&
        html`<ul class="set-filters row mt-8" aria-label="Filters that are set">${set.map(
          ({ name, label }) =>
            html`<li key=${name}><a class="inline-block px-9 py-1 border border-line rounded-full text-soft text-12 wrap-anywhere" href=${to({ [name]: '', after: '' })} aria-label=${`Remove the filter ${label} ${query[name]}`}>${label}: <strong class="text-ink font-semibold">${query[name]}</strong> <span aria-hidden="true">×</span></a></li>`,
        )}<li><a class="inline-block px-9 py-1 border border-line rounded-full text-soft text-12" href=${to({ ...Object.fromEntries(set.map(({ name }) => [name, ''])), after: '' })}>Clear</a></li></ul>`
      }
    </div>
  `
}

/** Which columns are shown, after the name. @param {{ columns: readonly Column[], shown: readonly Column[], to: ListPlace['to'] }} props */
const ColumnsMenu = ({ columns: [, ...others], shown, to }) => {
  /** @param {Event} event */
  const apply = (event) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    location.hash = to({ columns: new FormData(event.currentTarget).getAll('column').join(',') })
  }
  return html`<details class="menu"><summary class="button quiet">Columns</summary><form class="menu-box" aria-label="Columns" onSubmit=${apply}>
    ${others.map(({ name, title }) => html`<label class="tick"><input type="checkbox" name="column" value=${name} defaultChecked=${shown.some((each) => each.name === name)} /> ${title}</label>`)}
    <button type="submit" class="quiet">Show these</button>
  </form></details>`
}
