import { callById } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { iconOf } from '../navigation.js'
import { operations } from '../operations.js'
import { Empty } from '../parts/empty.js'
import { ListView } from '../parts/list-view.js'
import { hashAt } from '../route.js'
import { may } from '../session.js'
import { CreatePanel } from './create-panel.js'
import { columnsOf, inOrder, needsOne } from './resource-columns.js'
import { resources } from './resources.js'
import { RowPanel } from './row-panel.js'
import { idOf, titleOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 * @typedef {{ data: readonly Row[], next_cursor: string | null }} Listed
 */

const pageSize = 50

/** Resources with an address of their own. @type {Readonly<Record<string, string>>} */
const byView = {
  ...{ connections: 'connections', tools: 'mcp_servers', knowledge: 'knowledge_bases' },
  ...{ audit: 'audit_log', stuck: 'stuck' },
}

/** The resource that a place shows; agents where it names none. @param {Place} place */
const resourceAt = ({ view, query: { kind } }) => {
  const resource = resources.find(({ name }) => name === (byView[view] ?? kind)) ?? resources[0]
  if (resource === undefined) throw new Error('there are no resources')
  return resource
}

/** The resources of one kind, as declared: their list, one of them with what can be done, and a form for a new one. Everything chosen is in the URL. */
export const resourcePage = livePage({
  read: (place) => readRows(place, resourceAt(place), place.query.after),
  show: ({ place, data, done }) =>
    html`<${ResourcePage} place=${place} resource=${resourceAt(place)} listed=${data} done=${done} />`,
})

/** A page of the list; some lists name their rows otherwise than `data`. @param {Place} place @param {Resource} resource @param {string | undefined} cursor @returns {Promise<Listed>} */
const readRows = async ({ project, query }, { list, filters, single, title }, cursor) => {
  /** @type {readonly string[]} */
  const parameters = operations[list][2]
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, query[name]]))
  const answer = await callById(project, list, {
    query: parameters.includes('limit') ? { ...chosen, limit: pageSize, cursor } : chosen,
  })
  if (single) return { data: [{ id: 'setting', name: title, ...answer }], next_cursor: null }
  const rows = answer.data ?? Object.values(answer).find(Array.isArray) ?? []
  return { data: rows.filter(isLive), next_cursor: answer.next_cursor ?? null }
}

/** A revoked key is no more. @param {Row} row */
const isLive = ({ revoked_at = null }) => revoked_at === null

/** @param {{ place: Place, resource: Resource, listed: Listed, done: () => void }} props */
const ResourcePage = ({ place, resource, listed: { data, next_cursor }, done }) => {
  const { project, query } = place
  const { name, title, single, create, first, filters } = resource
  const isNew = query.new === 'yes' && may(create)
  const add = may(create) && !isNew && hashAt(place, { new: 'yes', open: '' })
  const opened = single ? data[0] : data.find((row) => idOf(row) === query.open)
  const needs = data.filter(needsOne(resource)).length
  const isFiltered = filters.some((filter) => query[filter.name])
  return html`
    <div class="view-head">
      <h1>${title}</h1>
      ${add && data.length > 0 && html`<a class="button" href=${add}>New</a>`}
      ${first.length > 0 && html`<span class="muted" role="status">${needs === 0 ? 'Nothing needs attention.' : `${needs} ${needs === 1 ? 'needs' : 'need'} attention.`}</span>`}
    </div>
    ${isNew && html`<${CreatePanel} key=${name} place=${place} resource=${resource} params=${{}} done=${done} />`}
    ${opened !== undefined && html`<${RowPanel} key=${query.open} place=${place} resource=${resource} row=${opened} params=${{}} done=${done} />`}
    ${query.open !== undefined && opened === undefined && html`<p class="empty">${query.open} is not on this page of the list, or it was deleted.</p>`}
    ${
      !single &&
      html`<section class="panel" aria-label=${title}>
      ${
        data.length === 0 && !isFiltered
          ? html`<${Empty} drawn=${iconOf(place)} title=${resource.none} create=${add}><p>${resource.about}</p><//>`
          : html`<${ListView} key=${name} place=${{ ...place, page: place.view === 'audit' ? 'audit' : `resources/${name}`, to: (/** @type {Query} */ changes) => hashAt(place, changes) }} title=${title} keyOf=${idOf}
            columns=${columnsOf({ project, resource, rows: data, params: {}, done, hrefOf: (row) => hashAt(place, { open: idOf(row), new: '' }) })}
            rows=${inOrder(resource, data)} fields=${filters.map(fieldOf)} next=${next_cursor} read=${(/** @type {string | undefined} */ cursor) => readRows(place, resource, cursor)}
            empty=${html`<p class="empty">No results match these filters. <a href=${hashAt(place, Object.fromEntries(filters.map((filter) => [filter.name, ''])))}>Show all</a></p>`} />`
      }
    </section>`
    }
  `
}

/** A filter as a field. @param {Resource['filters'][number]} filter @returns {import('../parts/query-form.js').QueryField} */
const fieldOf = ({ name, choices }) => ({
  ...{ name, label: titleOf(name) },
  ...(choices.length > 0 && {
    choices: [
      ['', 'any'],
      ...choices.map((choice) => /** @type {const} */ ([`${choice}`, `${choice}`.replaceAll('_', ' ')])),
    ],
  }),
})
