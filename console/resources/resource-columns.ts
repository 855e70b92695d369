import { html } from '../html.ts'
import { nameOf as knownName } from '../names.ts'
import { Named } from '../parts/cells.ts'
import type { Column } from '../parts/list-view.ts'
import { may } from '../session.ts'
import { RowActs } from './row-acts.ts'
import { cellOf, hasCell, idOf, nameOf, titleOf } from './row-text.ts'
import type { Resource, Row } from './types.ts'

/** `params`: those of the paths that name what the rows belong to; `filterBy`: the address of the list with a filter */
interface Listed {
  readonly project: string
  readonly resource: Resource
  readonly rows: readonly Row[]
  readonly params: Params
  readonly hrefOf: (row: Row) => string
  readonly done: () => void
  readonly filterBy?: (filter: Query) => string
}

/**
 * The columns of a resource's list: the name, which leads to the row, those that say more, and what can be done at
 * once.
 */
export const columnsOf = ({ project, resource, rows, params, hrefOf, done, filterBy }: Listed): readonly Column[] => {
  const { columns, quick, acts, remove, filters, named = 'Name', empty = {} } = resource
  /**
   * The cell of a field; where the list is filtered by it, unless it has its own, a click on a value shows those with
   * it.
   */
  const cellIn = (field: string) => {
    const filter = filters.find(({ param, choices }) => param === field && choices.length === 0 && !hasCell(field))
    return (row: Row) =>
      filter === undefined || filterBy === undefined || typeof row[field] !== 'string'
        ? cellOf(field, row, empty[field])
        : html`<a href=${filterBy({ [filter.name]: row[field], after: '' })} title=${row[field]}>${knownName(row[field])}</a>`
  }
  const offers = [...acts, remove].some((act) => act !== null && quick.includes(act.id) && may(act))
  return [
    {
      ...{ name: 'name', title: named, value: nameOf },
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
            cell: (row: Row) =>
              html`<span class="decide flex-nowrap"><${RowActs} quick project=${project} resource=${resource} row=${row} params=${params} done=${done} /></span>`,
          },
        ]
      : []),
  ]
}

/** Whether a row needs a person. */
export const needsOne =
  ({ first }: Resource) =>
  ({ status, error, pending_review_count = 0 }: Row) =>
    first.includes(String(status)) ||
    (first.length > 0 && status === 'active' && Boolean(error ?? pending_review_count))

/** Rows with those first that need a person. */
export const inOrder = (resource: Resource, rows: readonly Row[]) => {
  const { first } = resource
  const rank = (row: Row) => (needsOne(resource)(row) ? first.indexOf(String(row.status)) : first.length)
  return rows.toSorted((a, b) => rank(a) - rank(b))
}
