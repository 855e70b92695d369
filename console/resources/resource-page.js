import { ApiError, callById } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { iconOf } from '../navigation.js'
import { operations } from '../operations.js'
import { Empty } from '../parts/empty.js'
import { ListView } from '../parts/list-view.js'
import { byView, hashAt } from '../route.js'
import { may } from '../session.js'
import { CreatePanel } from './create-panel.js'
import { columnsOf, inOrder, needsOne } from './resource-columns.js'
import { resources } from './resources.js'
import { RowPanel } from './row-panel.js'
import { idOf, titleOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ query?: Readonly<Record<string, string>>, params?: Readonly<Record<string, string>> }} Given what every call of a list takes besides
 * @typedef {Pick<Place, 'project' | 'query'>} ListPlace
 * @typedef {{ rows: readonly Row[], next_cursor: string | null, opened: Row | undefined }} Listed
 */

const pageSize = 50
/** Rows per page of a file: the most that lists return. */
export const filePage = 100

/** The resource that a place shows; agents where it names none. @param {Place} place */
export const resourceAt = ({ view, query: { kind } }) => {
  const resource = resources.find(({ name }) => name === (byView[view] ?? kind)) ?? resources[0]
  if (resource === undefined) throw new Error('there are no resources')
  return resource
}

/** The resources of one kind, as declared. Everything chosen is in the URL. */
export const resourcePage = livePage({
  read: (place) => readListing(place, resourceAt(place)),
  show: ({ place, data, done }) => {
    const resource = resourceAt(place)
    const { title, create, first } = resource
    const needs = data.rows.filter(needsOne(resource)).length
    return html`
      <div class="view-head">
        <h1>${title}</h1>
        ${may(create) && place.query.new !== 'yes' && data.rows.length > 0 && html`<a class="button" href=${hashAt(place, { new: 'yes', open: '' })}>New</a>`}
        ${first.length > 0 && html`<span class="muted" role="status">${needs === 0 ? 'Nothing needs attention.' : `${needs} ${needs === 1 ? 'needs' : 'need'} attention.`}</span>`}
      </div>
      <${Listing} place=${place} resource=${resource} listed=${data} done=${done} />
    `
  },
})

/** A page of the list, and the row that is opened. @param {ListPlace} place @param {Resource} resource @param {Given} [given] @returns {Promise<Listed>} */
export const readListing = async (place, resource, given = {}) => {
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

/** @param {unknown} error @throws unless it is a 404 */
const unlessGone = (error) => {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}

/** A page of rows; some lists name them otherwise than `data`. @param {ListPlace} place @param {Resource} resource @param {string | undefined} cursor @param {Given} given @param {number} [limit] @returns {Promise<import('../parts/csv.js').Page>} */
export const readRows = async (
  { project, query },
  { list, filters, single, title },
  cursor,
  { query: further, params } = {},
  limit = pageSize,
) => {
  /** @type {readonly string[]} */
  const parameters = operations[list][2]
  const chosen = { ...Object.fromEntries(filters.map(({ name, param }) => [param, query[name]])), ...further }
  const answer = await callById(project, list, {
    ...(params && { params }),
    query: parameters.includes('limit') ? { ...chosen, limit, cursor } : chosen,
  })
  if (single) return { data: [{ id: 'setting', name: title, ...answer }], next_cursor: null }
  const rows = answer.data ?? Object.values(answer).find(Array.isArray) ?? []
  return { data: rows.filter(isLive), next_cursor: answer.next_cursor ?? answer.nextCursor ?? null }
}

/** A revoked key is no more. @param {Row} row */
const isLive = ({ revoked_at = null }) => revoked_at === null

/** The list of a resource, one of it with what can be done, and a form for a new one. @param {{ place: Place, resource: Resource, listed: Listed, params?: Readonly<Record<string, string>>, initial?: import('./types.js').Values, given?: Given, done: () => void }} props `initial`: of the form */
export const Listing = ({
  place,
  resource,
  listed: { rows, next_cursor, opened },
  params = {},
  initial = {},
  given = { params },
  done,
}) => {
  const { project, query, view } = place
  const { name, title, single, create, filters } = resource
  const isNew = query.new === 'yes' && may(create)
  const isFiltered = query.after || filters.some((filter) => query[filter.name])
  const to = (/** @type {Query} */ changes) => hashAt(place, changes)
  return html`
    ${isNew && html`<${CreatePanel} key=${name} place=${place} resource=${resource} params=${params} initial=${initial} done=${done} />`}
    ${opened !== undefined && html`<${RowPanel} key=${query.open} place=${place} resource=${resource} row=${opened} params=${params} done=${done} />`}
    ${query.open !== undefined && opened === undefined && html`<p class="empty">${query.open} is not on this page of the list, or it was deleted.</p>`}
    ${
      !single &&
      html`<section class="panel" aria-label=${title}>
      ${
        rows.length === 0 && !isFiltered
          ? html`<${Empty} drawn=${iconOf(place)} title=${resource.none} create=${may(create) && !isNew && to({ new: 'yes', open: '' })}><p>${resource.about}</p><//>`
          : html`<${ListView} key=${name} place=${{ ...place, to, page: ownViews.includes(view) ? view : `resources/${name}` }} title=${title} keyOf=${(/** @type {Row} */ row) => String(row.id ?? idOf(row))}
            columns=${columnsOf({ project, resource, rows, params, done, filterBy: to, hrefOf: (row) => to({ open: idOf(row), new: '' }) })}
            rows=${inOrder(resource, rows)} fields=${filters.map(fieldOf)} next=${next_cursor} read=${(/** @type {string | undefined} */ cursor) => readRows(place, resource, cursor, given, filePage)}
            empty=${html`<p class="empty">No results match these filters. <a href=${to(Object.fromEntries(['after', ...filters.map((filter) => filter.name)].map((each) => [each, ''])))}>Show all</a></p>`} />`
      }
    </section>`
    }
  `
}

/** Pages whose saved views are named by the page. @type {readonly string[]} */
const ownViews = ['audit', 'gateway']

/** A filter as a field. @param {Resource['filters'][number]} filter @returns {import('../parts/query-form.js').QueryField} */
export const fieldOf = ({ name, choices }) => ({
  ...{ name, label: titleOf(name) },
  ...(choices.length > 0 && {
    choices: [
      ['', 'any'],
      ...choices.map((choice) => /** @type {const} */ ([`${choice}`, `${choice}`.replaceAll('_', ' ')])),
    ],
  }),
})
