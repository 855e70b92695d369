import { callApi } from '../api.js'
import { age, toneOf } from '../format.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { Named, When } from '../parts/cells.js'
import { Empty } from '../parts/empty.js'
import { TablePanel } from '../parts/panel.js'
import { hashAt, newResource, routeHash } from '../route.js'
import { sessionNow } from '../session.js'
import { ServerPanel } from './server-panel.js'

/**
 * @typedef {import('#client/api/index.ts').McpServer} Server
 * @typedef {import('#client/api/index.ts').McpTool} Tool
 * @typedef {Answers['mcp_servers.tools']} Snapshot
 * @typedef {{ servers: readonly Server[], snapshot: Snapshot | null }} Shown
 */

const max = 100

/** Remote tool servers: their status, their tools, and the changes since a person approved them. */
export const toolsPage = livePage({
  read: async ({ project, query: { server } }) => {
    const [servers, snapshot] = await Promise.all([
      callApi(project, 'mcp_servers.list', { query: { limit: max } }),
      server ? callApi(project, 'mcp_servers.tools', { params: { server_id: server } }) : null,
    ])
    return { servers: servers.data, snapshot }
  },
  show: ({ place, data, done }) => html`<${Tools} place=${place} shown=${data} done=${done} />`,
})

/** @param {{ place: Place, shown: Shown, done: () => void }} props */
const Tools = ({ place, shown: { servers, snapshot }, done }) => {
  const waiting = servers.reduce((sum, { pending_review_count }) => sum + pending_review_count, 0)
  const failing = servers.filter(({ status }) => status === 'failing').length
  const needs = [...(waiting > 0 ? [`${waiting} to review`] : []), ...(failing > 0 ? [`${failing} failing`] : [])]
  const chosen = servers.find(({ id }) => id === place.query.server)
  return html`
    <div class="view-head"><h1>Tool servers</h1>${servers.length > 0 && sessionNow().operates && html`<a class="button" href=${newResource(place.project, 'mcp_servers')}>New</a>`}<span class="muted" role="status">${needs.length === 0 ? 'Nothing needs attention.' : `${needs.join(', ')}.`}</span></div>
    ${chosen && snapshot !== null && html`<${ServerPanel} key=${chosen.id} place=${place} server=${chosen} snapshot=${snapshot} done=${done} />`}
    ${
      servers.length === 0
        ? html`<${Empty} drawn="tools" title="No tool servers yet" create=${sessionNow().operates && newResource(place.project, 'mcp_servers')}><p>A remote MCP server gives agents its tools. A person reviews them first, and again when they change.</p><//>`
        : html`<${TablePanel} label="Servers" head="Servers" columns=${columnsOf(place)} rows=${sortedOf(servers)} />`
    }
  `
}

/** Servers that need a person first. @param {readonly Server[]} servers */
const sortedOf = (servers) =>
  servers.toSorted(
    (a, b) =>
      b.pending_review_count - a.pending_review_count ||
      Number(b.status === 'failing') - Number(a.status === 'failing'),
  )

/** @param {Place} place @returns {Columns<Server>} */
const columnsOf = (place) => ({
  Server: ({ name, id }) => html`<${Named} name=${name} id=${id} href=${hashAt(place, { server: id })} />`,
  Address: ({ url }) => html`<span class="muted">${url}</span>`,
  Status: ({ status, error, failing_since }) =>
    html`<span class="chip" data-tone=${status === 'failing' ? 'bad' : toneOf(status)}>${status}</span>${error !== null && html` <span class="trouble">${error.code}${failing_since !== null && ` since ${age(failing_since)}`}: ${error.message}</span>`}`,
  'To review': ({ pending_review_count: count }) =>
    count === 0 ? '0' : html`<span class="chip" data-tone="wait">${count}</span>`,
  Tools: ({ tool_count }) => String(tool_count),
  Tenant: ({ tenant_id }) => (tenant_id === null ? 'any' : nameOf(tenant_id)),
  'Last read': ({ snapshot_at }) => html`<${When} at=${snapshot_at} />`,
  Lifecycle: ({ id }) => html`<a href=${routeHash({ view: 'actor', project: place.project, id })}>chart</a>`,
})
