import { callApi } from './api.js'
import { machineName } from './format.js'
import { html } from './html.js'
import { ActorLink, isActorId } from './linked-ids.js'
import { livePage } from './live-page.js'
import { nameOf, titleOf } from './names.js'
import { nothing } from './parts/cells.js'
import { ListView } from './parts/list-view.js'
import { hashAt } from './route.js'

/** @typedef {Answers['audit_log.list']} Lines */

const pageSize = 50
/** Of a file. */
const maxPage = 100

const fields = [
  { name: 'action', label: 'Action' },
  { name: 'resource_id', label: 'Resource' },
  { name: 'actor_id', label: 'By' },
]

/** Who did what, newest first. */
export const auditPage = livePage({
  everyMs: 0,
  /** @returns {Promise<Lines>} */
  read: (place) => readLines(place, place.query.after, pageSize),
  show: ({ place, data }) => html`<${Audit} place=${place} lines=${data} />`,
})

/** @param {Place} place @param {string | undefined} cursor @param {number} limit */
const readLines = ({ project, query: { action, resource_id, actor_id } }, cursor, limit) =>
  callApi(project, 'audit_log.list', { query: { limit, action, resource_id, actor_id, cursor } })

/** The name of a resource, else its kind with the end of its id. @param {string} action @param {string} id */
const resourceName = (action, id) => {
  const name = nameOf(id)
  return name === id && id.includes('_') ? `${machineName(action.split('.')[0] ?? '')} …${id.slice(-5)}` : name
}

/** @param {string} project @returns {readonly import('./parts/list-view.js').Column[]} */
const columnsOf = (project) => [
  {
    ...{ name: 'action', title: 'Action', field: 'action' },
    cell: ({ action }) => action.replaceAll('_', ' ').replace('.', ' '),
  },
  {
    ...{ name: 'resource', title: 'Resource', value: ({ resource }) => resource.name ?? titleOf(resource.id) },
    cell: ({ action, resource }) =>
      resource.name === null && isActorId(resource.id)
        ? html`<${ActorLink} project=${project} id=${resource.id} />`
        : html`<span title=${resource.id} data-id=${resource.id}>${resource.name ?? resourceName(action, resource.id)}</span>`,
  },
  {
    ...{ name: 'by', title: 'By', value: ({ actor }) => actor.id && nameOf(actor.id) },
    cell: ({ actor }) => html`<span title=${actor.id}>${actor.id === null ? actor.kind : nameOf(actor.id)}</span>`,
  },
  { name: 'changed', title: 'Changed', cell: ({ changes }) => changes.join(', ') || nothing },
  { name: 'reason', title: 'Reason', cell: ({ reason }) => reason ?? nothing },
  { name: 'tenant', title: 'Tenant', off: true, field: 'tenant_id' },
  { name: 'address', title: 'Address', off: true, cell: ({ actor }) => actor.ip ?? nothing },
  { name: 'time', title: 'Time', field: 'created_at' },
]

/** @param {{ place: Place, lines: Lines }} props */
const Audit = ({ place, lines: { data, next_cursor } }) => html`
  <div class="view-head"><h1>Audit log</h1><span class="muted">Every change that a person or a key made, with its reason.</span></div>
  <section class="panel" aria-label="Entries">
    <${ListView} place=${{ ...place, page: 'audit', to: (/** @type {Query} */ changes) => hashAt(place, changes) }} title="Entries" columns=${columnsOf(place.project)} rows=${data}
      fields=${fields} next=${next_cursor} read=${(/** @type {string | undefined} */ cursor) => readLines(place, cursor, maxPage)} empty=${html`<p class="empty">No entries match.</p>`} />
  </section>
`
