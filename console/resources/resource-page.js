import { callById } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { iconOf } from '../navigation.js'
import { operations } from '../operations.js'
import { Empty } from '../parts/empty.js'
import { Pages } from '../parts/pages.js'
import { hashAt } from '../route.js'
import { mayCreate } from '../session.js'
import { CreatePanel } from './create-panel.js'
import { ResourceTable } from './resource-table.js'
import { resources } from './resources.js'
import { RowPanel } from './row-panel.js'

/**
 * @typedef {import('./types.js').Resource} Resource
 * @typedef {import('./types.js').Row} Row
 */

const pageSize = 50

/** The resource of a name; agents for any other name. @param {string | undefined} name */
const resourceOf = (name) => {
  const resource = resources.find((each) => each.name === name) ?? resources[0]
  if (resource === undefined) throw new Error('there are no resources')
  return resource
}

/** The resources of one kind, as declared: their list, one of them with what can be done, and a form for a new one. Everything chosen is in the URL. */
export const resourcePage = livePage({
  read: async ({ project, query: { kind, cursor } }) => {
    const resource = resourceOf(kind)
    /** @type {readonly string[]} */
    const parameters = operations[resource.list][2]
    const query = parameters.includes('limit') ? { limit: pageSize, cursor } : {}
    return listedIn(await callById(project, resource.list, { query }), resource)
  },
  show: ({ place, data, done }) =>
    html`<${ResourcePage} place=${place} resource=${resourceOf(place.query.kind)} listed=${data} done=${done} />`,
})

/** The rows of a list; some lists name them otherwise than `data`. @param {Readonly<Record<string, any>>} answer @param {Resource} resource */
const listedIn = (answer, { single, title }) => ({
  data: single
    ? [{ id: 'setting', name: title, ...answer }]
    : (answer.data ?? Object.values(answer).find(Array.isArray) ?? []).filter(isLive),
  next_cursor: answer.next_cursor ?? null,
})

/** A revoked key is no more. @param {Row} row */
const isLive = ({ revoked_at = null }) => revoked_at === null

/** @param {{ place: Place, resource: Resource, listed: { data: readonly Row[], next_cursor?: string | null }, done: () => void }} props */
const ResourcePage = ({ place, resource, listed: { data, next_cursor = null }, done }) => {
  const { query } = place
  const creates = mayCreate(resource)
  const opened = resource.single ? data[0] : data.find(({ id }) => id === query.open)
  return html`
    <div class="view-head">
      <h1>${resource.title}</h1>
      ${creates && query.new !== 'yes' && data.length > 0 && html`<a class="button" href=${hashAt(place, { new: 'yes', open: '' })}>New</a>`}
    </div>
    ${creates && query.new === 'yes' && html`<${CreatePanel} key=${resource.name} place=${place} resource=${resource} params=${{}} done=${done} />`}
    ${opened !== undefined && html`<${RowPanel} key=${query.open} place=${place} resource=${resource} row=${opened} params=${{}} done=${done} />`}
    ${query.open !== undefined && opened === undefined && html`<p class="empty">${query.open} is not on this page of the list, or it was deleted.</p>`}
    ${
      !resource.single &&
      html`<section class="panel" aria-label=${resource.title}>
      ${
        data.length === 0
          ? html`<${Empty} drawn=${iconOf(resource.name)} title=${`No ${resource.title.toLowerCase()} yet`} create=${creates && query.new !== 'yes' && hashAt(place, { new: 'yes', open: '' })}><p>${resource.about}</p><//>`
          : html`<${ResourceTable} resource=${resource} rows=${data} hrefOf=${(/** @type {Row} */ row) => hashAt(place, { open: String(row.id), new: '' })} />`
      }
    </section>`
    }
    <${Pages} first=${query.cursor ? hashAt(place, { cursor: '' }) : null} next=${next_cursor && hashAt(place, { cursor: next_cursor })} />
  `
}
