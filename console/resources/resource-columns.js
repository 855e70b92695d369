import { html } from '../html.js'
import { nameOf as knownName } from '../names.js'
import { Named } from '../parts/cells.js'
import { may } from '../session.js'
import { RowActs } from './row-acts.js'
import { cellOf, hasCell, idOf, nameOf, titleOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ project: string, resource: Resource, rows: readonly Row[], params: Readonly<Record<string, string>>, hrefOf: (row: Row) => string, done: () => void, filterBy?: (filter: Query) => string }} Listed
 *   `params`: those of the paths that name what the rows belong to; `filterBy`: the address of the list with a filter
 */

/** The columns of a resource's list: the name, which leads to the row, those that say more, and what can be done at once. @param {Listed} listed @returns {readonly import('../parts/list-view.js').Column[]} */
export const columnsOf = ({ project, resource, rows, params, hrefOf, done, filterBy }) => {
  const { columns, quick, acts, remove, filters, empty = {} } = resource
  /** The cell of a field; where the list is filtered by it, unless it has its own, a click on a value shows those with it. @param {string} field */
  const cellIn = (field) => {
    const filter = filters.find(({ param, choices }) => param === field && choices.length === 0 && !hasCell(field))
    return (/** @type {Row} */ row) =>
      filter === undefined || filterBy === undefined || typeof row[field] !== 'string'
        ? cellOf(field, row, empty[field])
        : html`<a href=${filterBy({ [filter.name]: row[field], after: '' })} title=${row[field]}>${knownName(row[field])}</a>`
  }
  const offers = [...acts, remove].some((act) => act !== null && quick.includes(act.id) && may(act))
  return [
    {
      ...{ name: 'name', title: 'Name', value: nameOf },
      cell: (row) => html`<${Named} name=${nameOf(row)} id=${idOf(row)} href=${hrefOf(row)} />`,
    },
    ...columns
      .map((column) => ({ field: column.replace('-', ''), off: column.startsWith('-') }))
      .filter(({ field }) => rows.some((row) => row[field] !== nameOf(row)))
      .map((column) => ({
        ...column,
        name: column.field.replace(/_(id|at)$/, ''),
        title: titleOf(column.field),
        cell: cellIn(column.field),
      })),
    ...(offers
      ? [
          {
            ...{ name: 'actions', title: 'Actions' },
            cell: (/** @type {Row} */ row) =>
              html`<span class="decide flex-nowrap"><${RowActs} quick project=${project} resource=${resource} row=${row} params=${params} done=${done} /></span>`,
          },
        ]
      : []),
  ]
}

/** Whether a row needs a person. @param {Resource} resource */
export const needsOne =
  ({ first }) =>
  (/** @type {Row} */ { status, error, pending_review_count = 0 }) =>
    first.includes(String(status)) ||
    (first.length > 0 && status === 'active' && Boolean(error ?? pending_review_count))

/** Rows with those first that need a person. @param {Resource} resource @param {readonly Row[]} rows */
export const inOrder = (resource, rows) => {
  const { first } = resource
  /** @param {Row} row */
  const rank = (row) => (needsOne(resource)(row) ? first.indexOf(String(row.status)) : first.length)
  return rows.toSorted((a, b) => rank(a) - rank(b))
}
