import { callApi } from '../api.js'
import { age, ahead, toneOf } from '../format.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { Named, nothing, When } from '../parts/cells.js'
import { Empty as Blank } from '../parts/empty.js'
import { Pages } from '../parts/pages.js'
import { TablePanel } from '../parts/panel.js'
import { QueryForm } from '../parts/query-form.js'
import { hashAt, newResource, routeHash } from '../route.js'
import { sessionNow } from '../session.js'
import { ConnectionCommands } from './connection-commands.js'

/**
 * @typedef {import('#client/api/index.ts').Connection} Connection
 * @typedef {Answers['connections.list']} Shown
 */

const pageSize = 50

/** States that need a person first. @type {readonly Connection['status'][]} */
const order = ['error', 'expired', 'pending', 'active', 'revoked']

/** @param {readonly string[]} values */
const anyOf = (values) => [['', 'any'], ...values.map((value) => [value, value.replace('_', ' ')])]

const fields = [
  { name: 'status', label: 'State', choices: anyOf(order) },
  { name: 'owner', label: 'Owner', choices: anyOf(['project', 'tenant', 'end_user']) },
  { name: 'connector', label: 'Connector' },
  { name: 'tenant', label: 'Tenant' },
]

/** Connections of tools to services: their state, their owner, and the actions that restore one. */
export const connectionsPage = livePage({
  read: ({ project, query: { status, owner, connector, tenant, after } }) =>
    callApi(project, 'connections.list', {
      query: { limit: pageSize, status, owner_type: owner, connector, tenant_id: tenant, cursor: after },
    }),
  show: ({ place, data, done }) => html`<${Connections} place=${place} shown=${data} done=${done} />`,
})

/** Whether a connection needs attention. One whose last test failed may still be active. @param {Connection} connection */
const needsAttention = ({ status, error }) =>
  order.indexOf(status) < order.indexOf('active') || (status === 'active' && error !== null)

/** @param {{ place: Place, shown: Shown, done: () => void }} props */
const Connections = ({ place, shown: { data, next_cursor }, done }) => {
  const sorted = data.toSorted(
    (a, b) =>
      Number(needsAttention(b)) - Number(needsAttention(a)) || order.indexOf(a.status) - order.indexOf(b.status),
  )
  const needs = data.filter(needsAttention).length
  return html`
    <div class="view-head"><h1>Connections</h1>${data.length > 0 && sessionNow().operates && html`<a class="button" href=${newResource(place.project, 'connections')}>New</a>`}<span class="muted" role="status">${needs === 0 ? 'Nothing needs attention.' : `${needs} ${needs === 1 ? 'needs' : 'need'} attention.`}</span></div>
    <${QueryForm} place=${place} label="Filter connections" button="Apply" fields=${fields} fresh=${['after']} />
    ${
      data.length === 0
        ? html`<${Empty} place=${place} />`
        : html`<${TablePanel} label="Connections" columns=${columnsOf(place, done)} rows=${sorted} />`
    }
    <${Pages} first=${place.query.after ? hashAt(place, { after: '' }) : null} next=${next_cursor && hashAt(place, { after: next_cursor })} />
  `
}

/** @param {{ place: Place }} props */
const Empty = ({ place }) =>
  Object.values(place.query).some((value) => value !== '')
    ? html`<p class="empty">No results match these filters. <a href=${hashAt({ ...place, query: {} })}>Show all</a></p>`
    : html`<${Blank} drawn="connections" title="No connections yet" create=${sessionNow().operates && newResource(place.project, 'connections')}><p>A connection gives tools access to a service, by a key or by the sign-in of its owner.</p><//>`

/** @param {Place} place @param {() => void} done @returns {Columns<Connection>} */
const columnsOf = (place, done) => ({
  Connection: ({ name, id }) =>
    html`<${Named} name=${name} id=${id} href=${routeHash({ view: 'actor', project: place.project, id })} />`,
  Service: ({ connector }) => connector,
  Status: ({ status, error }) =>
    html`<span class="chip" data-tone=${status === 'active' && error !== null ? 'bad' : status === 'pending' ? 'wait' : toneOf(status)}>${status}</span>${error !== null && html` <span class="trouble">${error.code}: ${error.message}</span>`}`,
  Owner: (connection) => ownerOf(place, connection),
  Tools: ({ tool_count }) => String(tool_count),
  Token: ({ expires_at, last_refreshed_at, key_last4 }) => {
    if (expires_at === null) return key_last4 === null ? nothing : `key …${key_last4}`
    return html`ends ${ahead(expires_at)}${last_refreshed_at !== null && html`, <span class="muted">new ${age(last_refreshed_at)}</span>`}`
  },
  'Last test': ({ last_tested_at }) => html`<${When} at=${last_tested_at} />`,
  Actions: (connection) =>
    sessionNow().operates && connection.status !== 'revoked'
      ? html`<${ConnectionCommands} project=${place.project} connection=${connection} done=${done} />`
      : nothing,
})

/** @param {Place} place @param {Connection} connection */
const ownerOf = (place, { owner_type, tenant_id, external_user_id }) => {
  if (owner_type === 'project') return 'the project'
  const tenant = html`<a href=${hashAt(place, { tenant: tenant_id ?? '' })} title=${tenant_id}>${nameOf(tenant_id ?? '')}</a>`
  return owner_type === 'tenant'
    ? html`tenant ${tenant}`
    : html`user ${external_user_id} <span class="muted">tenant ${tenant}</span>`
}
