import { html, useState } from '../html.ts'
import { nameOf } from '../names.ts'
import { cellOf } from '../resources/row-text.ts'
import type { Row } from '../resources/types.ts'
import type { ComponentChildren as Children, ComponentChild } from '../vendor/preact.js'
import type { Page } from './csv.ts'
import { CsvButton } from './csv-button.ts'
import { Pages } from './pages.ts'
import { type QueryField, QueryForm } from './query-form.ts'
import { Table } from './table.ts'
import { ViewsMenu } from './views-menu.ts'

type Value = string | number | null | undefined

/**
 * `field`: of the row, which is shown and sorted by unless `cell` and `value` say otherwise; `off`: not shown unless
 * chosen
 */
export interface Column {
  readonly name: string
  readonly title: string
  readonly field?: string
  readonly cell?: (row: Row) => ComponentChild
  readonly value?: (row: Row) => Value
  readonly off?: boolean
}

/** `page`: names the list in saved views; `to`: the hash with changed parameters */
export type ListPlace = Readonly<{ project: string; query: Query; page: string; to: (changes: Query) => string }>

/** By what a row is sorted: the name of what a field names by its id. */
const sortedBy = ({ field, value }: Column, row: Row): Value => {
  if (value !== undefined) return value(row)
  const own = field === undefined ? null : row[field]
  if (typeof own === 'string') return own !== '' && Number.isFinite(Number(own)) ? Number(own) : nameOf(own)
  return typeof own === 'number' ? own : own === null || own === undefined ? null : JSON.stringify(own)
}

const shownIn = ({ field = '', cell }: Column, row: Row) => (cell === undefined ? cellOf(field, row) : cell(row))

/** The cells of columns by their titles. */
export const cellsOf = (columns: readonly Column[]): Columns<Row> =>
  Object.fromEntries(columns.map((column) => [column.title, (row) => shownIn(column, row)]))

/**
 * A list of rows with filters, columns, an order within its page, saved views and a file of all rows. All that is
 * chosen is in the address.
 */
export const ListView = (
  props: Omit<Props, 'place'> & {
    place: ListPlace
    /** the first is the name of the row */
    columns: readonly Column[]
    rows: readonly Row[]
    keyOf?: (row: Row) => string
    /** the first is always shown */
    fields: readonly QueryField[]
    /** cursor of the next page */
    next: string | null
    /** a page of a file */
    read: (cursor: string | undefined) => Promise<Page>
    empty: Children
  },
) => {
  const { place, title, columns, rows, keyOf, fields, next, read, empty, children } = props
  const { query, to } = place
  const chosen = (query.columns ?? '').split(',').filter(Boolean)
  const shown = columns.filter(({ name, off }, at) =>
    at === 0 || chosen.length === 0 ? off !== true : chosen.includes(name),
  )
  const heads = Object.fromEntries(shown.map((column) => [column.title, headOf(column, place)]))
  return html`
    <div class="flex flex-wrap items-start justify-between gap-x-16 gap-y-8 px-(--inset) py-10">
      ${fields.length > 0 && html`<${Filters} place=${place} fields=${fields} />`}
      <span class="list-menus row ml-auto">
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

const keptOf = (fields: readonly QueryField[]) => ['columns', 'sort', ...fields.map(({ name }) => name)]

/** What a saved view keeps of the address: filters, columns and order, and whose memories it lists. */
const viewed = (query: Query, fields: readonly QueryField[]): Query => {
  const names = ['user', 'tenant', ...keptOf(fields)]
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' && names.includes(name)))
}

const headOf = ({ name, title, field, value }: Column, { query: { sort = '' }, to }: ListPlace) => {
  if (field === undefined && value === undefined) return { head: title }
  const order = sort === `-${name}` ? 'descending' : sort === name ? 'ascending' : undefined
  const next = order === undefined ? `-${name}` : order === 'descending' ? name : ''
  return {
    order,
    head: html`<a href=${to({ sort: next })} title="Sort the rows of this page">${title}${order && html` <span aria-hidden="true">${order === 'ascending' ? '↑' : '↓'}</span>`}</a>`,
  }
}

const sorted = (rows: readonly Row[], columns: readonly Column[], sort: string = '') => {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''))
  if (column === undefined) return rows
  const sign = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => sign * compared(sortedBy(column, a), sortedBy(column, b)))
}

/** Empty values come last in ascending order. */
const compared = (a: Value = null, b: Value = null) => {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
}

/** The first filter, the others behind a button, and those that are set as links which remove them. */
const Filters = ({ place, fields }: { place: ListPlace; fields: readonly QueryField[] }) => {
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

/** Which columns are shown, after the name. */
const ColumnsMenu = (props: { columns: readonly Column[]; shown: readonly Column[]; to: ListPlace['to'] }) => {
  const { columns, shown, to } = props
  const [, ...others] = columns
  const apply = (event: Event) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    location.hash = to({ columns: new FormData(event.currentTarget).getAll('column').join(',') })
  }
  return html`<details class="menu"><summary class="button quiet">Columns</summary><form class="menu-box" aria-label="Columns" onSubmit=${apply}>
    ${others.map(({ name, title }) => html`<label class="tick"><input type="checkbox" name="column" value=${name} defaultChecked=${shown.some((each) => each.name === name)} /> ${title}</label>`)}
    <button type="submit" class="quiet">Show these</button>
  </form></details>`
}
