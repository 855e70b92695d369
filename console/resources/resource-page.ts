import { ApiError, callById } from '../api.ts'
import { html } from '../html.ts'
import { livePage } from '../live-page.ts'
import { iconOf } from '../navigation.ts'
import { operations } from '../operations.ts'
import type { Page } from '../parts/csv.ts'
import { Empty } from '../parts/empty.ts'
import { ListView } from '../parts/list-view.ts'
import type { QueryField } from '../parts/query-form.ts'
import { byView, hashAt } from '../route.ts'
import { may } from '../session.ts'
import { CreatePanel } from './create-panel.ts'
import { columnsOf, inOrder, needsOne } from './resource-columns.ts'
import { resources } from './resources.ts'
import { RowPanel } from './row-panel.ts'
import { idOf, titleOf } from './row-text.ts'
import type { Resource, Row, Values } from './types.ts'

/** what every call of a list takes besides */
type Given = Readonly<{ query?: Params; params?: Params }>

type ListPlace = Pick<Place, 'project' | 'query'>

export type Listed = Readonly<{ rows: readonly Row[]; next_cursor: string | null; opened: Row | undefined }>

const pageSize = 50
/** Rows per page of a file: the most that lists return. */
export const filePage = 100

/** The resource that a place shows; agents where it names none. */
export const resourceAt = ({ view, query: { kind } }: Place) => {
  const resource = resources.find(({ name }) => name === (byView[view] ?? kind)) ?? resources[0]
  if (resource === undefined) throw new Error('there are no resources')
  return resource
}

/** The resources of one kind, as declared. Everything chosen is in the URL. */
export const resourcePage = livePage({
  read: (place) => readListing(place, resourceAt(place)),
  show: ({ place, data, done }) => {
    const resource = resourceAt(place)
    const { title, one, create, first } = resource
    const needs = data.rows.filter(needsOne(resource)).length
    return html`
      <div class="view-head">
        <h1>${title}</h1>
        ${may(create) && place.query.new !== 'yes' && data.rows.length > 0 && html`<a class="button" href=${hashAt(place, { new: 'yes', open: '' })}>New ${one}</a>`}
        ${first.length > 0 && html`<span class="muted" role="status">${needs === 0 ? 'Nothing needs attention.' : `${needs} ${needs === 1 ? 'needs' : 'need'} attention.`}</span>`}
      </div>
      <${Listing} place=${place} resource=${resource} listed=${data} done=${done} />
    `
  },
})

/** A page of the list, and the row that is opened. */
export const readListing = async (place: ListPlace, resource: Resource, given: Given = {}): Promise<Listed> => {
  const { project, query } = place
  const { get, key, single } = resource
  const read =
    get !== null && may(get) && key !== null && query.open
      ? { id: get.id, params: { ...given.params, [key]: query.open } }
      : null
  const [{ data, next_cursor }, opened] = await Promise.all([
    readRows(place, resource, query.after, given),
    read && callById(project, read.id, { params: read.params }).catch(unlessGone),
  ])
  // a row of the list has fewer fields than what `get` returns
  const listed = read ? undefined : data.find((row) => idOf(row) === query.open)
  return { rows: data, next_cursor, opened: single ? data[0] : (opened ?? listed) }
}

/** @throws unless it is a 404 */
const unlessGone = (error: unknown) => {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}

/** A page of rows; some lists name them otherwise than `data`. */
export const readRows = async (
  { project, query }: ListPlace,
  { list, filters, single, title }: Resource,
  cursor: string | undefined,
  { query: further, params }: Given = {},
  limit: number = pageSize,
): Promise<Page> => {
  const parameters: readonly string[] = operations[list][2]
  const chosen = { ...Object.fromEntries(filters.map(({ name, param }) => [param, query[name]])), ...further }
  const answer = await callById(project, list, {
    ...(params && { params }),
    query: parameters.includes('limit') ? { ...chosen, limit, cursor } : chosen,
  })
  if (single) return { data: [{ id: 'setting', name: title, ...answer }], next_cursor: null }
  const rows = answer.data ?? Object.values(answer).find(Array.isArray) ?? []
  return { data: rows.filter(isLive), next_cursor: answer.next_cursor ?? answer.nextCursor ?? null }
}

/** A revoked key is no more. */
const isLive = ({ revoked_at = null }: Row) => revoked_at === null

/**
 * The list of a resource, one of it with what can be done, and a form for a new one.
 *
 * @param props `initial`: of the form
 */
export const Listing = (props: Props & { listed: Listed; params?: Params; initial?: Values; given?: Given }) => {
  const { place, resource, listed, params = {}, initial = {}, given = { params }, done } = props
  const { rows, next_cursor, opened } = listed
  const { project, query, view } = place
  const { name, title, single, create, filters } = resource
  const isNew = query.new === 'yes' && may(create)
  const isFiltered = query.after || filters.some((filter) => query[filter.name])
  const to = (changes: Query) => hashAt(place, changes)
  return html`
    ${isNew && html`<${CreatePanel} key=${name} place=${place} resource=${resource} params=${params} initial=${initial} done=${done} />`}
    ${opened !== undefined && html`<${RowPanel} key=${query.open} place=${place} resource=${resource} row=${opened} params=${params} done=${done} />`}
    ${query.open !== undefined && opened === undefined && html`<p class="empty">${query.open} is not on this page of the list, or it was deleted.</p>`}
    ${
      !single &&
      html`<section class="panel" aria-label=${title}>
      ${
        rows.length === 0 && !isFiltered
          ? html`<${Empty} drawn=${iconOf(place)} title=${resource.none} create=${may(create) && !isNew && to({ new: 'yes', open: '' })} one=${resource.one}><p>${resource.about}</p><//>`
          : html`<${ListView} key=${name} place=${{ ...place, to, page: ownViews.includes(view) ? view : `resources/${name}` }} title=${title} keyOf=${(row: Row) => String(row.id ?? idOf(row))}
            columns=${columnsOf({ project, resource, rows, params, done, filterBy: to, hrefOf: (row) => to({ open: idOf(row), new: '' }) })}
            rows=${inOrder(resource, rows)} fields=${filters.map(fieldOf)} next=${next_cursor} read=${(cursor: string | undefined) => readRows(place, resource, cursor, given, filePage)}
            empty=${html`<p class="empty">No results match these filters. <a href=${to(Object.fromEntries(['after', ...filters.map((filter) => filter.name)].map((each) => [each, ''])))}>Show all</a></p>`} />`
      }
    </section>`
    }
  `
}

/** Pages whose saved views are named by the page. */
const ownViews: readonly string[] = ['audit', 'gateway']

/** A filter as a field. */
export const fieldOf = ({ name, choices }: Resource['filters'][number]): QueryField => ({
  ...{ name, label: titleOf(name) },
  ...(choices.length > 0 && {
    choices: [['', 'any'], ...choices.map((choice) => [`${choice}`, `${choice}`.replaceAll('_', ' ')] as const)],
  }),
})
