import { html } from '../html.js'
import { Named } from '../parts/cells.js'
import { may } from '../session.js'
import { RowActs } from './row-acts.js'
import { idOf, nameOf, titleOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ project: string, resource: Resource, rows: readonly Row[], params: Readonly<Record<string, string>>, hrefOf: (row: Row) => string, done: () => void }} Listed
 *   `params`: those of the paths that name what the rows belong to
 */

/** The columns of a resource's list: the name, which leads to the row, those that say more, and what can be done at once. @param {Listed} listed @returns {readonly import('../parts/list-view.js').Column[]} */
export const columnsOf = ({ project, resource, rows, params, hrefOf, done }) => {
  const { columns, quick, acts, remove } = resource
  const offers = [...acts, remove].some((act) => act !== null && quick.includes(act.id) && may(act))
  return [
    {
      ...{ name: 'name', title: 'Name', value: nameOf },
      cell: (row) => html`<${Named} name=${nameOf(row)} id=${idOf(row)} href=${hrefOf(row)} />`,
    },
    ...columns
      .filter((name) => rows.some((row) => row[name] !== nameOf(row)))
      .map((name) => ({ name, title: titleOf(name), field: name })),
    ...(offers
      ? [
          {
            ...{ name: 'actions', title: 'Actions' },
            cell: (/** @type {Row} */ row) =>
              html`<span class="decide"><${RowActs} quick project=${project} resource=${resource} row=${row} params=${params} done=${done} /></span>`,
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
